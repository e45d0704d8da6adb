#!/usr/bin/env python3
"""Turns the weights of a run into a state_dict of PyTorch Geometric.

    to_pyg.py RUN --out weights.pt      RUN: a run folder of gnn_train, or a .safetensors file

Weights have the names of PyTorch Geometric's modules already, so a current version opens the file itself:

    model = torch_geometric.nn.GraphSAGE(500, 64, num_layers=2, out_channels=3)
    model.load_state_dict(safetensors.torch.load_file("RUN/weights.safetensors"))
    logits = model.eval()(x, edge_index)

This script is for what that does not cover: versions before 2.4, whose GATConv keeps `lin.weight` under the two names
`lin_src.weight` and `lin_dst.weight` (--version 2.3). With a run folder it prints the line that makes the model. Exit
status: 0 done, 2 bad input.
"""

import argparse
import json
import re
from pathlib import Path

import torch
from safetensors.torch import load_file

import dataset_folder
from dataset_folder import BadInput

CLASSES = {"gcn": "GCN", "sage": "GraphSAGE", "gat": "GAT", "gatv2": "GAT", "gin": "GIN"}


def before_2_4(state):
    """GATConv of those versions: one matrix under two names."""
    renamed = {}
    for name, tensor in state.items():
        if re.fullmatch(r"convs\.\d+\.lin\.weight", name) and name.replace("lin.weight", "att_src") in state:
            for side in ("lin_src", "lin_dst"):
                renamed[name.replace("lin.", f"{side}.")] = tensor
        else:
            renamed[name] = tensor
    return renamed


def norm_arguments(norm):
    if norm == "none":
        return []
    return ['norm="batch_norm"'] if norm == "batch" else ['norm="layer_norm"', 'norm_kwargs={"mode": "node"}']


def model_line(options, state):
    """The call that makes the model, or None where no ready-made class is the whole model."""
    name = options["model"]
    plain = (options["residual"] == "none" and not options["input_linear"] and not options["output_linear"]
             and options["norm"] != "l2" and options["embedding"] == 0)
    jumps = options["jumping"] != "none"
    if name not in CLASSES or not plain:
        return None
    if name in ("gat", "gatv2") and not jumps and options["heads"] != options["output_heads"]:
        return None
    last = "lin.bias" if jumps else {"sage": "convs.{}.lin_l.bias", "gin": "convs.{}.nn.lins.1.bias"}.get(
        name, "convs.{}.bias").format(options["layers"] - 1)
    cols_in = state[{"sage": "convs.0.lin_l.weight", "gin": "convs.0.nn.lins.0.weight", "gatv2": "convs.0.lin_l.weight"}.get(
        name, "convs.0.lin.weight")].shape[1]
    arguments = [str(cols_in), str(options["hidden"]), str(options["layers"]), str(state[last].numel()),
                 f"dropout={options['dropout']}", f'act="{options["activation"]}"', *norm_arguments(options["norm"])]
    if jumps:
        arguments.append(f'jk="{options["jumping"]}"')
    if name == "sage":
        pool = options["aggregator"] == "pool"
        arguments += [f'aggr="{"max" if pool else options["aggregator"]}"', f"project={pool}",
                      f"root_weight={not options['no_root_weight']}", f"normalize={options['l2_normalise']}"]
    if name in ("gat", "gatv2"):
        arguments += [f"heads={options['heads']}", f"negative_slope={options['negative_slope']}", f"v2={name == 'gatv2'}"]
    if name == "gin":
        arguments.append(f"train_eps={options['learn_epsilon']}")
    return f"torch_geometric.nn.{CLASSES[name]}({', '.join(arguments)})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="run folder, or a .safetensors file")
    parser.add_argument("--version", default="2.6", help="of PyTorch Geometric that will read it (default: 2.6)")
    parser.add_argument("--out", required=True, type=Path)
    options = parser.parse_args()
    if not re.fullmatch(r"\d+\.\d+(\.\d+)?", options.version):
        raise BadInput(f"--version {options.version}; expected a version as 2.6")
    file = options.run / "weights.safetensors" if options.run.is_dir() else options.run
    if not file.is_file():
        raise BadInput(f"no weights {file}")
    state = load_file(file)
    old_names = tuple(int(part) for part in options.version.split(".")[:2]) < (2, 4)
    torch.save(before_2_4(state) if old_names else state, options.out)
    config = options.run / "config.json"
    line = model_line(json.loads(config.read_text()), state) if config.is_file() else None
    print(line or "no ready-made class of torch_geometric.nn is this model; scripts/reference/pyg_twins.py builds it")


if __name__ == "__main__":
    dataset_folder.run(main)
