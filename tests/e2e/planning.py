"""gnn_plan, gnn_train --plan and --memory-limit: what they say is what runs then measure, and what does not fit is refused."""

import json

from halo_runs import HaloTest, Programs, generate, main, mpi_command, partition, run, succeed, train_command

MODEL = ("--model", "gcn", "--layers", 3, "--hidden", 16)


class Planning(HaloTest):
    def setUp(self):
        super().setUp()
        dataset = generate(self.folder / "dataset", "--kind", "sbm", "--nodes", 4000, "--classes", 4, "--degree", 8,
                           "--features", 12, "--seed", 1)
        self.parts = partition(dataset, self.folder / "parts", 6)

    def plan(self, *options):
        return json.loads(succeed([Programs.plan, self.parts, "--json", "--threads", 1, *MODEL, *options]).stdout)

    def test_runs_measure_what_the_plan_says(self):
        plans = self.plan("--ranks", "1,2,3,4", "--ranks-per-host", 4)["plans"]
        self.assertEqual([plan["ranks"] for plan in plans], [1, 2, 3, 4])
        for plan in plans:
            ranks = plan["ranks"]
            with self.subTest(ranks=ranks):
                out = self.folder / f"run_{ranks}"
                succeed(train_command(ranks, self.parts, out, *MODEL, "--epochs", 2, "--threads", 1))
                summary = json.loads((out / "summary.json").read_text())
                self.assertEqual(plan["halo_bytes_per_epoch"], summary["halo_bytes_per_epoch"])
                self.assertEqual(plan["halo_bytes_per_epoch"], sum(rank["halo_bytes_sent"] for rank in plan["per_rank"]))
                self.assertEqual(sum(rank["owned"] for rank in plan["per_rank"]), 4000)
                self.assertTrue(plan["fits"])
                for rank in plan["per_rank"]:
                    self.assertEqual(rank["bytes"], sum(rank["purposes"].values()))
                self.assertEqual(plan["bytes_largest"], max(rank["bytes"] for rank in plan["per_rank"]))
                self.assertGreater(plan["epoch_seconds"], 0)

    def test_a_limit_that_is_too_small_is_reported_by_the_plan(self):
        plans = self.plan("--ranks", "1,2", "--memory-limit", "1M")["plans"]
        for plan in plans:
            self.assertFalse(plan["fits"])
            self.assertIn("--memory-limit", plan["why_not"])
        table = succeed([Programs.plan, self.parts, *MODEL, "--memory-limit", "1M"]).stdout
        self.assertRegex(table, r"fits +no")
        self.assertIn("activations and gradients", table)

    def test_the_trainer_plans_and_writes_nothing(self):
        out = self.folder / "planned"
        done = succeed(train_command(2, self.parts, out, *MODEL, "--threads", 1, "--plan"))
        self.assertIn("2 x 1", done.stdout)
        self.assertRegex(done.stdout, r"fits +yes")
        self.assertFalse(out.exists())

    def test_the_trainer_refuses_what_does_not_fit(self):
        for limit, met in (("1M", "--memory-limit"), ("80M", "activations and gradients")):
            with self.subTest(limit=limit):
                out = self.folder / "refused"
                done = run(train_command(3, self.parts, out, *MODEL[:-1], 2048, "--threads", 1, "--memory-limit", limit))
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertEqual(done.stderr.count("error:"), 1, done.stderr)
                self.assertIn(met, done.stderr)
                self.assertIn("next:", done.stderr)
                self.assertFalse(out.exists())
        out = self.folder / "fits"
        succeed(train_command(3, self.parts, out, *MODEL, "--epochs", 1, "--threads", 1, "--memory-limit", "1G"))
        self.assertTrue((out / "summary.json").exists())

    def test_bad_options(self):
        for options in (("--memory-limit", "0"), ("--memory-limit", "lots"), ("--memory-limit", "1e40"),
                        ("--memory-limit", "-2G")):
            with self.subTest(options=options):
                done = run(mpi_command(2, Programs.train, self.parts, *options))
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn("--memory-limit", done.stderr)
        for options in (("--ranks", "7"), ("--ranks", "0"), ("--ranks", "two"), ("--link-bandwidth", "fast"),
                        ("--model", "nothing"), ("--hits-k", "3"), ("--link-latency", "-1")):
            with self.subTest(options=options):
                self.assertEqual(run([Programs.plan, self.parts, *options]).returncode, 2)
        self.assertEqual(run([Programs.plan, self.folder / "nowhere"]).returncode, 2)


if __name__ == "__main__":
    main()
