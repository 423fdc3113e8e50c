"""Shows that the conformance runner fails when it should, and only then.

usage: self_test.py RUNNER CASES_FOLDER

Every expected value of the smallest cases of each kind is changed, and every field taken away, one
at a time; each such case has to fail under its own name.
"""

import copy
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

RUNNER = CASES = None

# Without these a case is another case, or says less, and may pass.
OPTIONAL = {
    "budget", "stride", "mask", "masks", "keep", "pages", "identical", "sequence_law", "path",
    "bonus",
}  # fmt: skip
REQUIRED_NAMESAKES = {("stop", "path"), ("stop", "bonus"), ("commit", "path"), ("law", "path"),
                      ("law", "bonus")}  # fmt: skip


def changed(value):
    """Another value of the same type; of an exact number another exact number."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 100
    if isinstance(value, float):
        return value + 0.01
    if value is None:
        return "1/2"
    if set(value) <= set("01") and value:
        return value[:-1] + ("0" if value[-1] == "1" else "1")
    if "/" in value:
        above, below = value.split("/")
        return f"{int(above) + int(below)}/{below}"
    return "no_mass" if value == "ok" else "ok"


def leaves(value, way=()):
    """The ways to all values that are neither lists nor objects."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, (*way, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from leaves(inner, (*way, index))
    else:
        yield way


def lists(value, way=()):
    """The ways to all lists that hold something."""
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    if isinstance(value, list) and value:
        yield way
    for key, item in inner:
        if isinstance(item, (dict, list)):
            yield from lists(item, (*way, key))


def named_fields(value, way=()):
    """The ways to all fields of objects."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield (*way, key)
            yield from named_fields(inner, (*way, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from named_fields(inner, (*way, index))


def holder(case, way):
    for key in way[:-1]:
        case = case[key]
    return case


def smallest(cases, count=2):
    """A few cases of each kind that say much with little: neither the least nor the large ones."""
    kinds = {}
    for case in cases:
        kinds.setdefault(case.get("kind"), []).append(case)
    for members in kinds.values():
        members.sort(key=lambda case: len(json.dumps(case)))
        middle = len(members) // 3
        yield from members[middle : middle + count]


class SelfTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.scratch.name)
        self.addCleanup(self.scratch.cleanup)

    def cases(self, name):
        return json.loads((CASES / f"{name}.json").read_text())["cases"]

    def write(self, name, cases, **top):
        content = {"format": 1, "file": name, "cases": cases} | top
        (self.folder / f"{name}.json").write_text(json.dumps(content))

    def run_folder(self, *options):
        return subprocess.run(
            [RUNNER, *options, str(self.folder)], capture_output=True, text=True, timeout=250
        )

    def report(self):
        run = self.run_folder("--json")
        report = json.loads(run.stdout)
        self.assertEqual(run.returncode, 0 if report["ok"] else 1)
        return report

    def check_all_fail(self, name, variants):
        """`variants`: (what was done, case); all of them have to fail, and no other case."""
        cases = []
        for number, (what, case) in enumerate(variants):
            case["name"] = f"{number}: {what}"
            cases.append(case)
        self.write(name, cases)
        (file,) = self.report()["files"]
        failed = {case["name"] for case in file["cases"]}
        self.assertEqual({case["name"] for case in cases} - failed, set(), name)
        self.assertEqual((file["passed"], file["failed"]), (0, len(cases)))

    def assert_unusable(self, words):
        run = self.run_folder()
        self.assertEqual(run.returncode, 1, run.stdout)
        self.assertIn(words, run.stdout)


def each_file(test):
    def run(self):
        for path in sorted(CASES.glob("*.json")):
            for written in self.folder.iterdir():
                written.unlink()
            with self.subTest(file=path.stem):
                test(self, path.stem)

    return run


class Changes(SelfTest):
    @each_file
    def test_a_changed_expectation_fails_its_case(self, name):
        variants = []
        for case in smallest(self.cases(name)):
            for way in leaves(case["expect"], ("expect",)):
                if "accept" in way:
                    continue
                other = copy.deepcopy(case)
                holder(other, way)[way[-1]] = changed(holder(case, way)[way[-1]])
                variants.append((f"{way} of {case['name']}", other))
        self.check_all_fail(name, variants)

    @each_file
    def test_a_shortened_list_fails_its_case(self, name):
        variants = []
        for case in smallest(self.cases(name)):
            for way in lists(case["expect"], ("expect",)):
                if way[-1] == "accept" and len(case["expect"]["accept"]) > 1:
                    continue
                other = copy.deepcopy(case)
                holder(other, way)[way[-1]].pop()
                variants.append((f"{way} of {case['name']}", other))
        self.check_all_fail(name, variants)

    @each_file
    def test_a_missing_field_fails_its_case(self, name):
        variants = []
        for case in smallest(self.cases(name)):
            for way in named_fields(case):
                # A case may give rows of prefixes that its draft never reaches.
                if way == ("name",) or (len(way) == 2 and way[0] in ("target", "draft")):
                    continue
                if way[-1] in OPTIONAL and (name, way[-1]) not in REQUIRED_NAMESAKES:
                    continue
                other = copy.deepcopy(case)
                del holder(other, way)[way[-1]]
                variants.append((f"{way} of {case['name']}", other))
        self.check_all_fail(name, variants)

    @each_file
    def test_undocumented_fields_are_counted_and_change_nothing(self, name):
        cases = list(smallest(self.cases(name), 1))
        for case in cases:
            case["invented"] = {"deep": [1]}
            case["expect"]["invented"] = None
        self.write(name, cases, invented="also here")
        report = self.report()
        self.assertTrue(report["ok"], report)
        self.assertEqual(report["files"][0]["undocumented"], 2 * len(cases) + 1)

    def test_a_documented_field_that_nothing_reads_fails_its_case(self):
        for name, field, kind in (
            ("builder", "budgets", "best"),
            ("logits", "masks", "row"),
            ("mask", "retrieve", "tree"),
            ("batch", "column", "batch"),
        ):
            case = next(c for c in self.cases(name) if c["kind"] == kind)
            case[field] = []
            self.write(name, [case])
            (file,) = self.report()["files"]
            self.assertIn(field, file["cases"][0]["problem"])
            (self.folder / f"{name}.json").unlink()
        case = next(c for c in self.cases("commit") if "cache" in c)
        del case["cache"]
        self.write("commit", [case])
        self.assertIn("expect.committed", self.report()["files"][0]["cases"][0]["problem"])


class Files(SelfTest):
    def test_names_case_place_and_both_values(self):
        case = self.cases("stop")[0]
        case["expect"]["accepted"] = 41
        self.write("stop", [case])
        run = self.run_folder()
        self.assertEqual(run.returncode, 1)
        self.assertIn(f'FAILED "{case["name"]}" ({case["why"]})', run.stdout)
        self.assertIn("expect.accepted: expected 41, got 3", run.stdout)
        self.assertIn("total: 0 passed, 1 failed", run.stdout)

    def test_an_unknown_file_fails(self):
        self.write("surprise", [])
        self.assert_unusable('file is "surprise", which is unknown')

    def test_a_file_under_a_name_of_its_own_is_found_by_what_it_says(self):
        self.write("stop", self.cases("stop"))
        (self.folder / "stop.json").rename(self.folder / "more_stop_cases.json")
        self.assertTrue(self.report()["ok"])
        (self.folder / "more_stop_cases.json").rename(self.folder / "surprise.json")
        self.assert_unusable("which the name of the file does not say")

    def test_an_unknown_kind_fails_its_case(self):
        for path in sorted(CASES.glob("*.json")):
            cases = [c for c in self.cases(path.stem) if "kind" in c][:1]
            if not cases:
                continue
            cases[0]["kind"] = "surprise"
            self.write(path.stem, cases)
        report = self.report()
        self.assertEqual(report["failed"], 4)
        for file in report["files"]:
            self.assertIn('kind is "surprise"', file["cases"][0]["problem"])

    def test_files_that_are_not_what_the_format_says(self):
        for content, words in (
            ("{", "is not JSON"),
            ("", "is not JSON"),
            ("[]", "needs an object"),
            ('{"file": "law", "cases": []}', "format is missing"),
            ('{"format": 2, "file": "law", "cases": []}', "format is 2, needs 1"),
            ('{"format": 1, "cases": []}', "file is missing"),
            ('{"format": 1, "file": "law"}', "cases is missing"),
            ('{"format": 1, "file": "law", "cases": {}}', "needs a list"),
            ('{"format": 1, "file": "law", "cases": [7]}', "is not an object"),
            ('{"format": 1, "file": "law", "cases": [{}]}', "name is missing"),
        ):
            (self.folder / "law.json").write_text(content)
            self.assert_unusable(words)

    def test_names_that_occur_twice_fail(self):
        self.write("stop", self.cases("stop")[:1] * 2)
        self.assert_unusable("another case has this name")

    def test_values_of_another_type_fail_their_case(self):
        for field, value, words in (
            ("path", 3, "path is 3, needs a list"),
            ("bonus", 1.5, "bonus is 1.5, needs an integer"),
            ("bonus", 2**31, "needs an integer of 32 bits"),
            ("remaining", "inf", 'remaining is "inf", needs an integer'),
            ("remaining", 2**63, "needs an integer of 64 bits"),
        ):
            case = self.cases("stop")[0]
            case[field] = value
            self.write("stop", [case])
            self.assert_unusable(words)

    def test_fractions_that_are_none_fail_their_case(self):
        for fraction in ("1", "1/0", "/2", "1/", "1/-2", "0.5", " 1/2", "1/2/3"):
            case = self.cases("law")[0]
            case["expect"]["coverage"] = fraction
            self.write("law", [case])
            self.assert_unusable("expect.coverage")

    def test_other_files_are_not_looked_at_and_no_cases_at_all_fail(self):
        (self.folder / "README.md").write_text("not a case")
        self.assert_unusable("holds no *.json")
        self.write("stop", self.cases("stop"))
        self.assertTrue(self.report()["ok"])

    def test_a_folder_that_is_not_there_fails(self):
        run = subprocess.run(
            [RUNNER, str(self.folder / "nowhere")], capture_output=True, text=True, timeout=60
        )
        self.assertEqual(run.returncode, 1)
        self.assertIn("nowhere", run.stdout)

    def test_calls_that_are_not_understood(self):
        for arguments, code in (([], 2), (["--surprise", "."], 2), ([".", "."], 2), (["-h"], 0)):
            run = subprocess.run([RUNNER, *arguments], capture_output=True, text=True, timeout=60)
            self.assertEqual(run.returncode, code, arguments)
            self.assertIn("usage: conformance", run.stdout + run.stderr)


if __name__ == "__main__":
    RUNNER = sys.argv[1]
    CASES = pathlib.Path(sys.argv[2])
    unittest.main(argv=sys.argv[:1])
