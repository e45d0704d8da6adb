"""gnn_train --trace writes what every rank and thread did, changes nothing else, and says where an epoch went."""

import json
import os
import signal

import halo_runs
from halo_runs import (HaloTest, bits_of_run, both_ways, generate, metrics, partition, ranks_of, resume_command, run, start,
                       succeed, train_command, wait_for_epochs, write_dataset)

EPOCHS = 4
# The sum of the features is made once; two layers gather forward, and backward the same two.
MODEL = ("--model", "sage", "--layers", 3, "--hidden", 8)
SAGE = (*MODEL, "--epochs", EPOCHS, "--checkpoint-every", 2)
GATHERS = 4
# Rounding to nanoseconds, in microseconds.
TICK = 0.002


def inside(event, outer):
    return (event["pid"] == outer["pid"] and outer["ts"] - TICK <= event["ts"]
            and event["ts"] + event["dur"] <= outer["ts"] + outer["dur"] + TICK)


class Trace(HaloTest):
    def setUp(self):
        super().setUp()
        dataset = generate(self.folder / "data", "--kind", "sbm", "--nodes", 2000, "--features", 16, "--seed", 1)
        self.parts = partition(dataset, self.folder / "parts", 4)
        self.file = self.folder / "trace.json"

    def read(self, file=None):
        trace = json.loads((file or self.file).read_text())
        self.assertEqual([path.name for path in self.folder.glob("*.tmp")], [])
        return trace["traceEvents"]

    def check_nesting(self, events):
        """On each track, two events are one within the other or apart."""
        for track in {(event["pid"], event["tid"]) for event in events}:
            own = sorted((e for e in events if (e["pid"], e["tid"]) == track), key=lambda e: (e["ts"], -e["dur"]))
            open_ends = []
            for event in own:
                end = event["ts"] + event["dur"]
                while open_ends and open_ends[-1] <= event["ts"] + TICK:
                    open_ends.pop()
                if open_ends:
                    self.assertLessEqual(end, open_ends[-1] + TICK, f"{event} on track {track}")
                open_ends.append(end)

    def check_events(self, entries, ranks, threads, epochs):
        tracks = {(e["pid"], e["tid"]): e["args"]["name"] for e in entries if e["name"] == "thread_name"}
        self.assertEqual(tracks, {(rank, thread): f"thread {thread}" if thread < threads else "halo rows in flight"
                                  for rank in range(ranks) for thread in range(threads + 1)})
        events = [entry for entry in entries if entry["ph"] == "X"]
        for event in events:
            self.assertLessEqual({"name", "cat", "pid", "tid", "ts", "dur", "args"}, event.keys())
            self.assertGreaterEqual(event["dur"], 0)
            self.assertIn((event["pid"], event["tid"]), tracks)
        self.check_nesting(events)
        for rank in range(ranks):
            own = [event for event in events if event["pid"] == rank]
            whole = [event for event in own if event["cat"] == "epoch"]
            self.assertEqual([event["args"]["epoch"] for event in whole], epochs)
            evaluations = [event for event in own if event["cat"] == "evaluation"]
            for epoch in whole:
                within = [event for event in own if inside(event, epoch) and event is not epoch]
                training = [e for e in within if not any(inside(e, evaluation) for evaluation in evaluations)]
                count = {cat: sum(event["cat"] == cat for event in training) for cat in {e["cat"] for e in within}}
                for cat in ("gather", "pack", "wait for halo"):
                    self.assertEqual(count[cat], GATHERS, cat)
                self.assertEqual(sum("; " in e["name"] and "gather v" in e["name"] for e in training if e["cat"] == "stage"),
                                 GATHERS)
                self.assertEqual(count["optimiser"], 1)
                self.assertEqual(count["exact sums"], 1)
                self.assertEqual(sum(event["cat"] == "evaluation" for event in within), 1)
        return events

    def test_ranks_and_threads(self):
        expected = None
        for ranks, threads in ((1, 1), (1, 2), (2, 2), (3, 1), (4, 1)):
            with self.subTest(ranks=ranks, threads=threads):
                untraced = self.folder / f"untraced_{ranks}_{threads}"
                succeed(train_command(ranks, self.parts, untraced, *SAGE, "--threads", threads))
                out = self.folder / f"run_{ranks}_{threads}"
                done = succeed(train_command(ranks, self.parts, out, *SAGE, "--threads", threads, "--trace", self.file))
                events = self.check_events(self.read(), ranks, threads, list(range(1, EPOCHS + 1)))
                self.assertEqual(sum(e["cat"] == "checkpoint" for e in events), 2 * ranks)
                expected = expected or bits_of_run(untraced)
                self.assertEqual(bits_of_run(untraced), expected)
                self.assertEqual(bits_of_run(out), expected)
                self.assertNotIn("trace", (out / "config.toml").read_text())  # is of this job, not of the run
                self.check_summary(out, done.stdout, events, ranks)

    def check_summary(self, out, said, events, ranks):
        summary = json.loads((out / "summary.json").read_text())
        trace = summary["trace"]
        self.assertEqual((trace["epochs"], trace["dropped_events"]), (EPOCHS, 0))
        self.assertAlmostEqual(sum(part["share"] for part in trace["parts"]), 1, places=6)
        self.assertAlmostEqual(sum(part["seconds"] for part in trace["parts"]), trace["epoch_seconds"], places=6)
        epoch = [e["dur"] * 1e-6 for e in events if e["cat"] == "epoch" and e["args"]["epoch"] == trace["median_epoch"]]
        self.assertAlmostEqual(sum(epoch) / ranks, trace["epoch_seconds"], places=6)
        self.assertIn(f"where epoch {trace['median_epoch']} went", said)
        for part in trace["parts"]:
            self.assertIn(part["name"], said)
        if ranks == 1:
            self.assertIsNone(trace["waited_for"])
        elif trace["waited_for"] is not None:  # ranks may be in step by chance
            self.assertIn(trace["waited_for"]["rank"], range(ranks))
            self.assertIn(f"rank {trace['waited_for']['rank']}", said)

    def test_gathers_are_in_every_summary(self):
        for ranks in (1, 3):
            out = self.folder / f"run{ranks}"
            succeed(train_command(ranks, self.parts, out, *SAGE, "--threads", 1))
            summary = json.loads((out / "summary.json").read_text())
            self.assertNotIn("trace", summary)
            gathers = summary["gathers"]
            self.assertEqual(sum(gather["count"] for gather in gathers), GATHERS)
            self.assertEqual(sum(gather["count"] for gather in gathers if gather["direction"] == "in"), 2)
            self.assertEqual(sum(gather["bytes"] for gather in gathers), summary["halo_bytes_per_epoch"])
            for line in metrics(out):
                for kind in ("wait", "hidden"):
                    self.assertLessEqual(line[f"halo_{kind}_seconds_mean"], line[f"halo_{kind}_seconds_max"] + 1e-12)
                    if ranks == 1:
                        self.assertEqual(line[f"halo_{kind}_seconds_max"], 0)
            mean = sum(line["halo_hidden_seconds_mean"] for line in metrics(out)) / EPOCHS
            self.assertAlmostEqual(sum(gather["hidden_seconds_mean"] for gather in gathers), mean, places=9)
            mean = sum(line["halo_wait_seconds_mean"] for line in metrics(out)) / EPOCHS
            self.assertAlmostEqual(sum(gather["waited_seconds_mean"] for gather in gathers), mean, places=9)

    def test_nothing_is_hidden_by_the_blocking_transport(self):
        out = self.folder / "run"
        succeed(train_command(2, self.parts, out, *SAGE, "--threads", 1, "--transport", "blocking", "--trace", self.file))
        self.assertEqual({line["halo_hidden_seconds_max"] for line in metrics(out)}, {0})
        self.check_events(self.read(), 2, 1, list(range(1, EPOCHS + 1)))

    def test_several_seeds_share_a_file(self):
        succeed(train_command(2, self.parts, self.folder / "run", *SAGE, "--threads", 1, "--runs", 2, "--trace", self.file))
        self.check_events(self.read(), 2, 1, 2 * list(range(1, EPOCHS + 1)))
        for seed in (1, 2):
            summary = json.loads((self.folder / "run" / f"seed-{seed}" / "summary.json").read_text())
            self.assertEqual(summary["trace"]["epochs"], EPOCHS)

    def test_a_resumed_run_has_the_epochs_of_its_own_job(self):
        out = self.folder / "run"
        succeed(train_command(2, self.parts, out, *SAGE, "--threads", 1))
        succeed(resume_command(3, out, "--epochs", EPOCHS + 3, "--trace", self.file))
        self.check_events(self.read(), 3, 1, list(range(EPOCHS + 1, EPOCHS + 4)))
        self.assertEqual(len(metrics(out)), EPOCHS + 3)
        self.file.unlink()
        done = run(resume_command(3, out, "--trace", self.file))
        self.assertEqual(done.returncode, 0)
        self.assertIn("no trace", done.stderr)
        self.assertFalse(self.file.exists())

    def test_a_run_that_a_signal_stops(self):
        out = self.folder / "run"
        job = start(train_command(2, self.parts, out, *MODEL, "--threads", 1, "--epochs", 100000, "--trace", self.file))
        wait_for_epochs(job, out, 5)
        os.kill(ranks_of(out)[0], signal.SIGTERM)
        said, _ = job.communicate(timeout=60)
        self.assertEqual(job.returncode, 3, said)
        self.assertIn(f"trace {self.file}", said)
        self.check_events(self.read(), 2, 1, [line["epoch"] for line in metrics(out)])

    def test_other_tasks_and_models_nest_too(self):
        succeed(train_command(2, self.parts, self.folder / "gat", "--model", "gat", "--hidden", 8, "--norm", "batch",
                              "--clip-norm", 1, "--epochs", 2, "--threads", 2, "--trace", self.file))
        self.check_nesting([entry for entry in self.read() if entry["ph"] == "X"])

    def test_a_rank_without_neighbours_and_training_nodes(self):
        path = both_ways((i, i + 1) for i in range(9))  # nodes 10 to 29 are isolated
        dataset = write_dataset(self.folder / "lonely", 30, path, range(0, 10, 3), range(1, 30, 3))
        parts = partition(dataset, self.folder / "lonely_parts", 3, "--method", "block")
        out = self.folder / "run"
        succeed(train_command(3, parts, out, *SAGE, "--threads", 1, "--trace", self.file))
        self.check_events(self.read(), 3, 1, list(range(1, EPOCHS + 1)))

    def test_refused_paths(self):
        (self.folder / "folder").mkdir()
        (self.folder / "a_file").write_text("kept")
        out = self.folder / "run"
        for bad in (self.folder / "folder", self.folder / "a_file" / "trace.json", out, f"{self.folder}/new/",
                    "/proc/trace.json/x"):
            for ranks in (1, 2):
                with self.subTest(path=bad, ranks=ranks):
                    done = run(train_command(ranks, self.parts, out, *SAGE, "--trace", bad))
                    self.assertEqual(done.returncode, 2, done.stderr)
                    self.assertEqual(done.stderr.count("error:"), 1, done.stderr)
                    self.assertIn("--trace", done.stderr)
                    self.assertFalse(out.exists())
        self.assertEqual((self.folder / "a_file").read_text(), "kept")
        self.assertEqual(list((self.folder / "folder").iterdir()), [])
        done = run(train_command(1, self.parts, out, "--evaluate-only", "--initial-weights", "x", "--trace", self.file))
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("--trace beside --evaluate-only", done.stderr)


if __name__ == "__main__":
    halo_runs.main()
