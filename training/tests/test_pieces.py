"""The vocabulary against a dumber twin that merges a whole text at once."""

import random
import unittest

from punt_training.pieces import FIRST_BYTE, FIRST_TEXT, Pieces


def small_vocabulary() -> Pieces:
    pieces = [b"<unk>", b"<s>", b"</s>"] + [bytes([b]) for b in range(256)]
    words = [" ", "a", "b", "c", "t", "h", "e", " t", "he", " the", "ab", " a", "abc", "  ", " ab", "bc", "é"]
    pieces += [w.encode() for w in words]
    scores = [0.0] * FIRST_TEXT + [-float(i) for i in range(len(words))]
    return Pieces(pieces, scores)


def random_texts(count: int) -> list[str]:
    chooser = random.Random(1)
    return ["".join(chooser.choices(["a", "b", "c", "the", " ", "  ", "\n", "é", "日", "t"], k=chooser.randint(1, 20)))
            for _ in range(count)]  # fmt: skip


class PiecesTest(unittest.TestCase):
    def test_words_one_by_one_are_the_whole_text_at_once(self):
        pieces = small_vocabulary()
        for text in random_texts(300):
            self.assertEqual(pieces.encode(text), pieces.merge(pieces.characters(" " + text)), repr(text))

    def test_texts_come_back(self):
        pieces = small_vocabulary()
        for text in random_texts(300):
            self.assertEqual(pieces.decode(pieces.encode(text)), text)

    def test_a_character_without_a_piece_becomes_bytes(self):
        pieces = small_vocabulary()
        self.assertEqual(pieces.encode("日")[1:], [FIRST_BYTE + b for b in "日".encode()])

    def test_a_trimmed_vocabulary_writes_its_texts_with_the_same_pieces(self):
        pieces = small_vocabulary()
        texts = ["the abc", "the ab", "a the"] * 2
        trimmed, kept = pieces.trim(texts, at_least=2)
        self.assertLess(len(trimmed), len(pieces))
        for text in texts:
            self.assertEqual([kept[i] for i in trimmed.encode(text)], pieces.encode(text))


if __name__ == "__main__":
    unittest.main()
