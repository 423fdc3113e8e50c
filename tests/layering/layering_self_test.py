"""Plants includes that the design forbids and expects each to be named; allowed ones pass."""

import pathlib
import tempfile
import unittest

import layering


class Layering(unittest.TestCase):
    def faults(self, files: dict[str, str]) -> list[str]:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in files.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            return layering.check(root)

    def assert_one_fault(self, path: str, text: str, expected: str):
        targets = {
            "include/tev/core/types.hpp": "",
            "include/tev/tree/view.hpp": "",
            "include/tev/verify/greedy.hpp": "",
            "include/tev/batch/view.hpp": "",
            "include/tev/cuda/launch.cuh": "",
        }
        faults = self.faults(targets | {path: "// A file.\n" + text})
        self.assertEqual(len(faults), 1, faults)
        self.assertTrue(faults[0].startswith(f"{path}:2: "), faults)
        self.assertIn(expected, faults[0])

    def test_accepts_what_the_arrows_allow(self):
        self.assertEqual(
            self.faults(
                {
                    "include/tev/core/types.hpp": "#include <cstdint>\n",
                    "include/tev/tree/view.hpp": '#include "tev/core/types.hpp"\n',
                    "include/tev/verify/greedy.hpp": '#include "tev/tree/view.hpp"\n',
                    "include/tev/cuda/launch.cuh": "#include <cub/cub.cuh>\n",
                    "include/tev/tev.hpp": '#include "tev/verify/greedy.hpp"\n',
                    "examples/llm/a.cpp": '#include "llm/a.hpp"\n#include <sys/mman.h>\n',
                    "examples/01_x/main.cpp": "#include <tev/tev.hpp>\n#include <fmt/core.h>\n",
                }
            ),
            [],
        )

    def test_rejects_an_arrow_that_points_up(self):
        self.assert_one_fault(
            "include/tev/tree/a.hpp",
            '#include "tev/verify/greedy.hpp"\n',
            "tree may not include verify",
        )
        self.assert_one_fault(
            "include/tev/core/a.hpp", "#include <tev/tree/view.hpp>\n", "core may not include tree"
        )
        self.assert_one_fault(
            "include/tev/verify/a.hpp",
            '# include "tev/batch/view.hpp"\n',
            "verify may not include batch",
        )

    def test_rejects_device_headers_on_the_host(self):
        self.assert_one_fault("include/tev/verify/a.hpp", "#include <cub/cub.cuh>\n", "CUDA")
        self.assert_one_fault("include/tev/verify/a.hpp", "#include <cuda_runtime.h>\n", "CUDA")
        self.assert_one_fault("include/tev/verify/a.hpp", "#include <thrust/scan.h>\n", "CUDA")
        self.assert_one_fault("include/tev/tev.hpp", '#include "tev/cuda/launch.cuh"\n', "device")

    def test_rejects_a_dependency_of_the_library(self):
        self.assert_one_fault("include/tev/verify/a.hpp", "#include <fmt/core.h>\n", "standard")
        self.assert_one_fault("include/tev/verify/a.hpp", "#include <sys/mman.h>\n", "standard")

    def test_rejects_a_relative_or_missing_header(self):
        self.assert_one_fault("include/tev/tree/a.hpp", '#include "view.hpp"\n', "included as")
        self.assert_one_fault("include/tev/tree/a.hpp", '#include "tev/tree/b.hpp"\n', "no such")

    def test_rejects_what_examples_must_not_use(self):
        self.assert_one_fault("examples/llm/a.cpp", "#include <CLI/CLI.hpp>\n", "own part")
        self.assert_one_fault("examples/llm/a.cpp", '#include "cli/a.hpp"\n', "own parts")
        self.assert_one_fault("examples/llm/a.cpp", "auto x = tev::detail::y();\n", "public names")
        self.assert_one_fault("examples/cli/a.cpp", '#include "tev/tree/detail/a.hpp"\n', "public")
        self.assert_one_fault("examples/01_x/main.cpp", "#include <boost/a.hpp>\n", "own part")


if __name__ == "__main__":
    unittest.main()
