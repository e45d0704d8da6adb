"""The two small graphs of the golden tests: a directed weighted one and a symmetric unweighted one.

Both hold what a distributed trainer gets wrong first: isolated nodes (one of them a training node), nodes with
in-edges only and with out-edges only (directed case), a self-loop that is in the data already, nodes in no split.
Random numbers come from numpy.random.RandomState, whose stream is frozen: every NumPy gives the same graph.
"""

from dataclasses import dataclass
from typing import Optional

import numpy as np

FEATURES = 7
CLASSES = 3


@dataclass
class Case:
    """One dataset: arrays as in the dataset folder, and the seed of its initial parameters."""

    name: str
    edge_index: np.ndarray             # int64 [2, E]: row 0 sources, row 1 targets; no duplicates
    edge_weight: Optional[np.ndarray]  # float32 [E]; None: every edge weighs 1
    features: np.ndarray               # float64 [N, F], each value a float32 as well
    labels: np.ndarray                 # int64 [N]
    train_idx: np.ndarray              # int64, ascending
    val_idx: np.ndarray
    test_idx: np.ndarray
    parameter_seed: int

    def arrays(self):
        """File name -> array of the dataset folder."""
        files = {
            "edge_index.npy": self.edge_index,
            "features.npy": self.features,
            "labels.npy": self.labels,
            "train_idx.npy": self.train_idx,
            "val_idx.npy": self.val_idx,
            "test_idx.npy": self.test_idx,
        }
        if self.edge_weight is not None:
            files["edge_weight.npy"] = self.edge_weight
        return files


def on_grid(values):
    """Rounds to multiples of 2^-10: exact in float32, so that a float32 trainer starts from the same numbers."""
    return np.round(values * 1024.0) / 1024.0


def node_arrays(random, num_nodes, isolated_train_node):
    features = on_grid(random.standard_normal((num_nodes, FEATURES)))
    labels = random.randint(0, CLASSES, size=num_nodes).astype(np.int64)
    others = random.permutation(np.setdiff1d(np.arange(num_nodes), [isolated_train_node]))
    train = np.append(others[:15], isolated_train_node)
    splits = [np.sort(ids).astype(np.int64) for ids in (train, others[15:25], others[25:35])]
    return features, labels, splits


def directed_weighted():
    random = np.random.RandomState(20240)
    num_nodes, num_edges, loop = 40, 160, 12
    isolated, in_only, out_only = [5, 17, 39], [3, 22], [8, 31]
    may_send = np.setdiff1d(np.arange(num_nodes), isolated + in_only)
    may_receive = np.setdiff1d(np.arange(num_nodes), isolated + out_only)
    pairs = np.array([(s, t) for s in may_send for t in may_receive if s != t])
    pairs = pairs[random.permutation(len(pairs))[: num_edges - 1]]
    pairs = random.permutation(np.vstack([pairs, [[loop, loop]]]))
    weights = random.uniform(0.25, 2.0, size=num_edges).astype(np.float32)
    features, labels, splits = node_arrays(random, num_nodes, isolated_train_node=17)

    sources, targets = np.unique(pairs[:, 0]), np.unique(pairs[:, 1])
    assert not np.isin(isolated, sources).any() and not np.isin(isolated, targets).any()
    assert np.isin(in_only, targets).all() and np.isin(out_only, sources).all()
    return Case("directed_weighted", np.ascontiguousarray(pairs.T.astype(np.int64)), weights, features, labels, *splits,
                parameter_seed=1)


def symmetric_unweighted():
    random = np.random.RandomState(20241)
    num_nodes, loop = 40, 7
    isolated = [0, 20]
    linked = np.setdiff1d(np.arange(num_nodes), isolated)
    pairs = np.array([(s, t) for s in linked for t in linked if s < t])
    pairs = pairs[random.permutation(len(pairs))[:80]]
    pairs = random.permutation(np.vstack([pairs, pairs[:, ::-1], [[loop, loop]]]))
    features, labels, splits = node_arrays(random, num_nodes, isolated_train_node=20)
    return Case("symmetric_unweighted", np.ascontiguousarray(pairs.T.astype(np.int64)), None, features, labels, *splits,
                parameter_seed=2)


def all_cases():
    cases = [directed_weighted(), symmetric_unweighted()]
    for case in cases:
        assert len(np.unique(case.edge_index, axis=1).T) == case.edge_index.shape[1], "duplicate edge"
        assert (case.features.astype(np.float32).astype(np.float64) == case.features).all()
    return cases
