"""The Llama-2 sentencepiece vocabulary and a subset of it, encoding as libllama does for `tokenizer.ggml.model = llama`.

Text becomes characters (bytes, where a character is no piece), then the neighbouring pair whose joint piece has the best
score is merged until none is left. No piece crosses from a letter to a following space, so words are encoded one by one
and remembered.
"""

import collections
import re
import struct

UNKNOWN, BOS, EOS, FIRST_BYTE, FIRST_TEXT = 0, 1, 2, 3, 259


def read_llama2c_vocabulary(data: bytes, size: int = 32000) -> "Pieces":
    """llama2.c's format: int32 longest piece, then for each piece float32 score, int32 length, bytes."""
    pieces, scores, at = [], [], 4
    for number in range(size):
        score, length = struct.unpack_from("<fi", data, at)
        at += 8
        if length < 0 or at + length > len(data):
            raise ValueError(f"vocabulary: piece {number} runs past the end")
        pieces.append(data[at : at + length])
        scores.append(score)
        at += length
    return Pieces(pieces, scores)


class Pieces:
    """Pieces 0..2 are <unk>, <s>, </s>, the next 256 single bytes, the rest text in which a space is a space."""

    def __init__(self, pieces: list[bytes], scores: list[float]):
        self.pieces, self.scores = pieces, scores
        self.id = {piece: i for i, piece in reversed(list(enumerate(pieces))) if i >= FIRST_TEXT}
        self._words: dict[str, list[int]] = {}

    def __len__(self):
        return len(self.pieces)

    def merge(self, ids: list[int], seen: set[int] | None = None) -> list[int]:
        """Merges `ids` to the end; every piece made on the way goes into `seen`."""
        while True:
            best, where, score = None, -1, float("-inf")
            for j in range(len(ids) - 1):
                joint = self.id.get(self.pieces[ids[j]] + self.pieces[ids[j + 1]])
                if joint is not None and self.scores[joint] > score:
                    best, where, score = joint, j, self.scores[joint]
            if best is None:
                return ids
            ids[where : where + 2] = [best]
            if seen is not None:
                seen.add(best)

    def characters(self, text: str) -> list[int]:
        ids = []
        for character in text:
            i = self.id.get(character.encode())
            ids += [i] if i is not None else [FIRST_BYTE + b for b in character.encode()]
        return ids

    def encode(self, text: str) -> list[int]:
        ids: list[int] = []
        for word in re.findall(r" +[^ ]*|[^ ]+", " " + text):
            if word not in self._words:
                self._words[word] = self.merge(self.characters(word))
            ids += self._words[word]
        return ids

    def decode(self, ids: list[int]) -> str:
        out = b"".join(
            bytes([i - FIRST_BYTE]) if FIRST_BYTE <= i < FIRST_TEXT else self.pieces[i] for i in ids if i >= FIRST_BYTE
        )
        return out.decode("utf-8", "replace").removeprefix(" ")

    def trim(self, texts: list[str], at_least: int = 2) -> tuple["Pieces", list[int]]:
        """The pieces that `texts` use at least so often, with all that their merges need; and their old ids."""
        count = collections.Counter(i for text in texts for i in self.encode(text))
        keep = set(range(FIRST_TEXT)) | {i for i, n in count.items() if n >= at_least}
        for i in [i for i in keep if i >= FIRST_TEXT]:
            characters = [c for c in self.characters(self.pieces[i].decode()) if c >= FIRST_TEXT]
            keep.update(characters)
            self.merge(characters, keep)
        kept = sorted(keep)
        return Pieces([self.pieces[i] for i in kept], [self.scores[i] for i in kept]), kept


def vocabulary(pieces: Pieces, mask: bool):
    """As a GGUF file lists it: spaces as U+2581, bytes as <0x..>; with a mask behind the pieces, or of the parent itself."""
    from .export import BYTE, CONTROL, NORMAL, UNKNOWN as KIND_UNKNOWN, Vocabulary

    tokens: list[str | bytes] = ["<unk>", "<s>", "</s>"] + [f"<0x{b:02X}>" for b in range(256)]
    tokens += [piece.decode().replace(" ", "\u2581") for piece in pieces.pieces[FIRST_TEXT:]]
    kinds = [KIND_UNKNOWN, CONTROL, CONTROL] + [BYTE] * 256 + [NORMAL] * (len(pieces) - FIRST_TEXT)
    scores = [0.0] * FIRST_TEXT + pieces.scores[FIRST_TEXT:]
    special = {"bos": BOS, "eos": EOS, "unknown": UNKNOWN, "padding": EOS}
    if mask:
        tokens.append("<mask>")
        kinds.append(CONTROL)
        scores.append(0.0)
        special["mask"] = len(pieces)
    else:
        special["eos"] = BOS  # stories15M was trained on stories one behind the other, each beginning with BOS
    flags = {"add_bos_token": True, "add_eos_token": False, "add_space_prefix": True}
    return Vocabulary("llama", tokens, kinds, special, scores=scores, flags=flags)
