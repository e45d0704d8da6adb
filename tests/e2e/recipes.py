"""Every recipe of docs/recipes runs on a generated graph of the dataset's shape: recipes.py BUILD."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

RECIPES = pathlib.Path(__file__).resolve().parents[2] / "docs" / "recipes"


def exercise(*words):
    return subprocess.run([RECIPES / "exercise.sh", *words], capture_output=True, text=True, check=False)


class Recipes(unittest.TestCase):
    build = ""

    def test_every_recipe_runs(self):
        with tempfile.TemporaryDirectory() as folder:
            run = exercise(self.build, pathlib.Path(folder, "out"), "--nodes", "400", "--epochs", "2")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        names = sorted(path.stem for path in RECIPES.glob("*.toml"))
        lines = run.stdout.splitlines()
        self.assertEqual(sorted(line.split(":")[0] for line in lines[:-1]), names)
        self.assertEqual(lines[-1], f"{len(names)} passed, 0 failed")

    def test_a_recipe_that_fails_is_counted(self):
        with tempfile.TemporaryDirectory() as folder:
            # Four nodes are too few for their splits: no dataset is made.
            run = exercise(self.build, pathlib.Path(folder, "out"), "--nodes", "4")
        self.assertEqual(run.returncode, 1)
        self.assertIn("FAILED", run.stdout)

    def test_bad_arguments(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "file").touch()
            for words in (["--nodes", "0"], ["one"], [self.build, folder], ["/nowhere", pathlib.Path(folder, "new")]):
                self.assertEqual(exercise(*words).returncode, 2, words)


if __name__ == "__main__":
    Recipes.build = sys.argv.pop(1)
    unittest.main()
