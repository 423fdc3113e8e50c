"""Plants each fault that repository.py looks for and expects it to be named."""

import pathlib
import tempfile
import unittest

import repository


class Repository(unittest.TestCase):
    def faults(self, name: str, text: str) -> list[str]:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode("latin-1"))
            return repository.check(pathlib.Path(folder))

    def assert_fault(self, name: str, text: str, expected: str):
        faults = self.faults(name, text)
        self.assertEqual(len(faults), 1, faults)
        self.assertIn(expected, faults[0])

    def test_accepts_a_proper_file(self):
        self.assertEqual(self.faults("include/tev/a.hpp", "// A.\n#pragma once\n"), [])
        self.assertEqual(self.faults("docs/a.md", "See examples/work/a and core/tmp/b.\n"), [])

    def test_rejects_paths_of_one_machine(self):
        for folder in ("work", "tmp", "root", "home"):
            self.assert_fault("docs/a.md", f"see /{folder}/a\n", "path of one machine")

    def test_rejects_unfinished_work(self):
        self.assert_fault("tests/a.cpp", "// TO" + "DO\n", "unfinished")
        self.assert_fault("tests/a.cpp", "// good for " + "now\n", "unfinished")

    def test_rejects_untidy_text(self):
        self.assert_fault("README.md", "a \n", "white space")
        self.assert_fault("README.md", "a", "newline")
        self.assert_fault("tools/a.sh", "\ta\n", "tab")
        self.assert_fault("README.md", "\xff\n", "UTF-8")

    def test_rejects_headers_without_form(self):
        self.assert_fault("include/a.hpp", "#pragma once\n", "comment")
        self.assert_fault("include/a.hpp", "// A.\n", "pragma")
        self.assert_fault("include/a.hpp", "// A.\n#pragma once\n" + 299 * "\n" + "int a;\n", "300")


if __name__ == "__main__":
    unittest.main()
