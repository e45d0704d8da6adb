"""Full-graph GCN, GraphSAGE (mean) and MLP in PyTorch on CPU, as fast as PyTorch's own operators allow.

What makes it fast, and is therefore done here although a first version would not:
- an aggregation is a linear map M = diag(r) S diag(q), S a CSR matrix; its backward multiplies by the CSR of S^T (the same
  arrays where the graph is symmetric) instead of scattering;
- three operators can multiply by it (see OPERATORS); the fastest on this very graph and machine is chosen by timing;
- the linear map goes before the aggregation where that moves fewer columns;
- the aggregation of the fixed input features is computed once.
"""

import time
import warnings

import numpy as np
import scipy.sparse
import torch
import torch.nn.functional as F


class Matrix:
    """diag(left) S diag(right) with S in CSR; left and right may be None (ones), and so may the values of S."""

    def __init__(self, csr, left, right, dtype):
        self.indptr = torch.from_numpy(csr.indptr.astype(np.int32))
        self.indices = torch.from_numpy(csr.indices.astype(np.int32))
        self.shape = csr.shape
        self.dtype = dtype
        self.left, self.right = (None if a is None else torch.from_numpy(a).to(dtype) for a in (left, right))
        self.values = None if (csr.data == 1).all() else torch.from_numpy(csr.data).to(dtype)

    def baked_values(self):
        """Values of the whole product, one per entry."""
        values = torch.ones(len(self.indices), dtype=self.dtype)
        if self.values is not None:
            values *= self.values
        if self.left is not None:
            values *= torch.repeat_interleave(self.left, self.indptr.diff().long())
        if self.right is not None:
            values *= self.right[self.indices.long()]
        return values


class ScaledBag:
    """embedding_bag over the unscaled entries; rows are scaled before and after."""

    def __init__(self, matrix):
        self.m = matrix

    def __call__(self, x):
        m = self.m
        x = x if m.right is None else x * m.right[:, None]
        y = F.embedding_bag(m.indices, x, m.indptr, mode="sum", include_last_offset=True, per_sample_weights=m.values)
        return y if m.left is None else y.mul_(m.left[:, None])


class WeightedBag:
    """embedding_bag with one weight per entry."""

    def __init__(self, matrix):
        self.m, self.values = matrix, matrix.baked_values()

    def __call__(self, x):
        return F.embedding_bag(self.m.indices, x, self.m.indptr, mode="sum", include_last_offset=True,
                               per_sample_weights=self.values)


class SparseCsr:
    """torch.sparse_csr_tensor @ x."""

    def __init__(self, matrix):
        warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta")
        self.csr = torch.sparse_csr_tensor(matrix.indptr, matrix.indices, matrix.baked_values(), matrix.shape)

    def __call__(self, x):
        return self.csr @ x


OPERATORS = {"scaled-bag": ScaledBag, "weighted-bag": WeightedBag, "csr": SparseCsr}


class Aggregate(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, multiply, multiply_transposed):
        ctx.multiply_transposed = multiply_transposed
        return multiply(x)

    @staticmethod
    def backward(ctx, dy):
        return ctx.multiply_transposed(dy.contiguous()), None, None


class Graph:
    """The linear map of one model's aggregation over a graph, and its transpose.

    in_edges: scipy CSR, row i holds the weights of the edges into i. `operator` is a key of OPERATORS or "auto", which
    times products with `width` columns for each. Chosen: .operator; seconds of each: .operator_seconds.
    """

    def __init__(self, in_edges, model, operator="auto", width=256, dtype=torch.float32):
        if model == "gcn":
            missing = (in_edges.diagonal() == 0).astype(in_edges.dtype)
            in_edges = (in_edges + scipy.sparse.diags(missing, format="csr")).tocsr()
            in_edges.eliminate_zeros()
        degree = np.asarray(in_edges.sum(axis=1, dtype=np.float64)).ravel()
        if model == "gcn":
            left = right = 1.0 / np.sqrt(degree)
        else:
            left, right = np.divide(1.0, degree, out=np.zeros_like(degree), where=degree > 0), None
        in_edges.sort_indices()
        out_edges = in_edges.T.tocsr()
        out_edges.sort_indices()
        self.symmetric = all(np.array_equal(getattr(in_edges, part), getattr(out_edges, part))
                             for part in ("indptr", "indices", "data"))
        matrix = Matrix(in_edges, left, right, dtype)
        transposed = Matrix(out_edges, right, left, dtype)
        if self.symmetric:
            transposed.indptr, transposed.indices, transposed.values = matrix.indptr, matrix.indices, matrix.values
        self.entries = len(matrix.indices)
        self.operator_seconds = {}
        self.operator = self._fastest(matrix, width, dtype) if operator == "auto" else operator
        self.multiply = OPERATORS[self.operator](matrix)
        self.multiply_transposed = OPERATORS[self.operator](transposed)

    def _fastest(self, matrix, width, dtype):
        x = torch.ones(matrix.shape[1], width, dtype=dtype)
        for name, make in OPERATORS.items():
            multiply = make(matrix)
            seconds = []
            for _ in range(2):
                start = time.perf_counter()
                multiply(x)
                seconds.append(time.perf_counter() - start)
            self.operator_seconds[name] = min(seconds)
        return min(self.operator_seconds, key=self.operator_seconds.get)

    def aggregate(self, x):
        return Aggregate.apply(x, self.multiply, self.multiply_transposed)


class Network(torch.nn.Module):
    """`layers` layers of gcn, sage or mlp; ReLU and dropout between layers, none after the last.

    Weights are [in, out] and named as in tests/golden. `input_dropout` acts on the features. Unless it is used,
    `prepare` may store the aggregated features.
    """

    def __init__(self, model, cols_in, hidden, cols_out, layers, dropout=0.0, input_dropout=0.0):
        super().__init__()
        self.model, self.dropout, self.input_dropout = model, dropout, input_dropout
        widths = [cols_in] + [hidden] * (layers - 1) + [cols_out]
        self.layers = torch.nn.ModuleList()
        for shape in zip(widths, widths[1:]):
            layer = torch.nn.Module()
            for name in ("root_weight", "neighbour_weight") if model == "sage" else ("weight",):
                layer.register_parameter(name, torch.nn.Parameter(torch.nn.init.xavier_uniform_(torch.empty(shape))))
            layer.bias = torch.nn.Parameter(torch.zeros(shape[1]))
            self.layers.append(layer)
        self.aggregated_features = None

    def prepare(self, graph, features):
        if self.model != "mlp" and self.input_dropout == 0.0:
            self.aggregated_features = graph.aggregate(features)

    def forward(self, graph, features):
        x = F.dropout(features, self.input_dropout, self.training)
        for i, layer in enumerate(self.layers):
            ready = self.aggregated_features if i == 0 else None
            x = getattr(self, "_" + self.model)(graph, layer, x, ready)
            if i + 1 < len(self.layers):
                x = F.dropout(F.relu(x, inplace=True), self.dropout, self.training)
        return x

    def _mlp(self, graph, layer, x, ready):
        return torch.addmm(layer.bias, x, layer.weight)

    def _gcn(self, graph, layer, x, ready):
        if ready is None and not self._before(x, layer.weight):
            return graph.aggregate(x @ layer.weight) + layer.bias
        return torch.addmm(layer.bias, graph.aggregate(x) if ready is None else ready, layer.weight)

    def _sage(self, graph, layer, x, ready):
        y = torch.addmm(layer.bias, x, layer.root_weight)
        if ready is None and not self._before(x, layer.neighbour_weight):
            return y + graph.aggregate(x @ layer.neighbour_weight)
        return torch.addmm(y, graph.aggregate(x) if ready is None else ready, layer.neighbour_weight)

    @staticmethod
    def _before(x, weight):
        """Whether aggregate-then-linear moves fewer columns, forward and backward together."""
        cols_in, cols_out = weight.shape
        return cols_in * (1 + x.requires_grad) < cols_out * 2
