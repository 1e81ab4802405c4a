"""The words of `tasks`: what is one token, and how text becomes tokens.

A name is one token, and so is every fixed phrase of a prompt or a record. Lists of people are then three tokens a person,
and every entry of a record has the same number of tokens. Digits and capital letters are tokens of their own, and so is
every other byte: any name can be read, if it is not in the lists, letter by letter.

The engine looks for these words in any text, leftmost and longest first (`Words.encode` does the same), and spells the
rest in bytes, as GPT-2's vocabulary writes them.
"""

from .export import CONTROL, NORMAL, USER_DEFINED, Vocabulary

GIVEN = """
Aaron Abigail Adam Alan Albert Alexander Alice Amanda Amy Andrea Andrew Angela Ann Anna Anthony Arthur Ashley Austin Barbara
Benjamin Betty Billy Bradley Brandon Brenda Brian Bruce Carl Carol Catherine Charles Charlotte Christian Christine
Christopher Craig Cynthia Daniel David Deborah Dennis Diana Donald Donna Dorothy Douglas Dylan Edward Eleanor Elizabeth
Emily Emma Eric Ethan Eugene Evelyn Frances Frank Gabriel Gary George Gerald Gloria Grace Gregory Hannah Harold Harry
Heather Helen Henry Isaac Isabella Jack Jacob James Janet Jason Jean Jeffrey Jennifer Jeremy Jerry Jesse Jessica Joan Joe
John Johnny Jonathan Jordan Jose Joseph Joshua Joyce Juan Judith Judy Julia Justin Karen Katherine Kathleen Keith Kelly
Kenneth Kevin Kimberly Kyle Larry Laura Lauren Lawrence Linda Lisa Logan Louis Madison Margaret Maria Marie Marilyn Mark
Martha Martin Mary Matthew Megan Melissa Michael Michelle Nancy Natalie Nathan Nicholas Nicole Noah Oliver Olivia Pamela
Patricia Patrick Paul Peter Philip Rachel Ralph Randy Raymond Rebecca Richard Robert Roger Ronald Rose Roy Russell Ruth
Ryan Samantha Samuel Sandra Sarah Scott Sean Sharon Shirley Sophia Stephanie Stephen Steven Susan Teresa Theodore Theresa
Thomas Timothy Tyler Victoria Vincent Virginia Walter Wayne William Zachary
""".split()

SURNAMES = """
Abbott Adams Aguilar Alexander Allen Alvarez Anderson Andrews Armstrong Arnold Austin Bailey Baker Banks Barnes Bell Bennett
Berry Bishop Black Bowman Boyd Bradley Brooks Brown Bryant Burke Burns Burton Butler Campbell Carlson Carpenter Carr
Carroll Carson Carter Castillo Castro Chapman Chavez Chen Clark Cole Coleman Collins Cook Cooper Cox Crawford Cruz
Cunningham Curtis Daniels Davidson Davis Day Dean Diaz Dixon Douglas Duncan Dunn Edwards Elliott Ellis Evans Ferguson
Fernandez Fields Fisher Fleming Fletcher Flores Ford Foster Fowler Fox Franklin Freeman Fuller Garcia Gardner Garza
Gibson Gilbert Gomez Gonzalez Gordon Graham Grant Gray Green Greene Griffin Gutierrez Hall Hamilton Hansen Hanson Harper
Harris Harrison Hart Harvey Hawkins Hayes Henderson Henry Hernandez Hicks Hill Hoffman Holland Holmes Holt Hopkins
Howard Howell Hudson Hughes Hunt Hunter Jackson Jacobs James Jenkins Jensen Jimenez Johnson Johnston Jones Jordan
Kelley Kelly Kennedy Kim King Knight Lambert Lane Larson Lawrence Lawson Lee Lewis Lin Little Long Lopez Lucas Lynch
Marshall Martin Martinez Mason Matthews May McCarthy McCoy McDonald Medina Mendoza Meyer Miller Mills Mitchell Montgomery
Moore Morales Moreno Morgan Morris Morrison Murphy Murray Myers Neal Nelson Newman Nguyen Nichols Oliver Olson Ortega
Ortiz Owens Palmer Park Parker Patel Patterson Payne Pearson Perez Perkins Perry Peters Peterson Phillips Pierce Porter
Powell Price Quinn Ramirez Ramos Ray Reed Reid Reyes Reynolds Rice Richards Richardson Riley Rivera Roberts Robertson
Robinson Rodriguez Rogers Romero Rose Ross Ruiz Russell Ryan Sanchez Sanders Santos Schmidt Schneider Schultz Scott Shaw
Silva Simmons Simpson Sims Smith Snyder Soto Spencer Stanley Stephens Stevens Stewart Stone Sullivan Sutton Taylor Thomas
Thompson Torres Tran Tucker Turner Vargas Vasquez Vega Wagner Walker Wallace Walsh Ward Warren Washington Watkins Watson
Weaver Webb Weber Welch Wells West Wheeler White Williams Williamson Willis Wilson Wong Wood Woods Wright Yang Young
""".split()

# Entries of records draw from these, each as likely as the others.
RECORD_NAMES = GIVEN[::6][:32]
COUNTRY = {
    "Oslo": "Norway", "Bergen": "Norway", "Paris": "France", "Lyon": "France", "Berlin": "Germany", "Munich": "Germany",
    "Madrid": "Spain", "Seville": "Spain", "Rome": "Italy", "Milan": "Italy", "Lisbon": "Portugal", "Porto": "Portugal",
    "Vienna": "Austria", "Graz": "Austria", "Warsaw": "Poland", "Krakow": "Poland", "Tokyo": "Japan", "Osaka": "Japan",
    "Cairo": "Egypt", "Luxor": "Egypt", "Lima": "Peru", "Cusco": "Peru", "Delhi": "India", "Mumbai": "India",
    "Dublin": "Ireland", "Cork": "Ireland", "Athens": "Greece", "Patras": "Greece", "Prague": "Czechia", "Brno": "Czechia",
    "Helsinki": "Finland", "Turku": "Finland",
}  # fmt: skip
CITIES = list(COUNTRY)
MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
MOST_ENTRIES, LAST_DAY = 32, 28
NUMBERS = [f"#{i:02}" for i in range(1, MOST_ENTRIES + 1)]


def ordinal(day: int) -> str:
    return f"{day}{'th' if 10 < day < 14 else {1: 'st', 2: 'nd', 3: 'rd'}.get(day % 10, 'th')}"


DAYS = [ordinal(day) for day in range(1, LAST_DAY + 1)]

OPEN, BETWEEN, CLOSE, COLON = '["', '", "', '"]', ": "  # of a list of people
PHRASES = [
    OPEN, BETWEEN, CLOSE, COLON, "Copy the list: ", "Reverse the list: ", "Sort the list: ", "Shuffle the list: ",
    "Count the list: ", 'Insert "', '" at position ', '" at a random position: ', "Remove the person at position ",
    "Remove a random person: ", "Replace the person at position ", ' with "', '": ', 'Replace a random person with "',
    "Latin square: [", ", ", "]", "Count from ", " to ", "Write ", " people", " bills", " trips", " orders", " as JSON", " as CSV",
    " as a form",
]  # fmt: skip

# Names of a record's fields; task_records.py has the records.
FIELDS = ["no", "name", "city", "country", "a", "b", "total", "month", "from", "to", "id"]
JSON_FIRST, JSON_NEXT, JSON_LAST = '[{"no":"', '"},\n{"no":"', '"}]'
FORM_FIRST, FORM_NEXT = "No: ", "\n\nNo: "
HEADERS = ["no,name,city,country\n", "no,a,b,total\n", "no,month,from,to\n", "no,id,city,country,a,b,total\n"]


def json_key(field: str) -> str:
    return f'","{field}":"'


def form_key(field: str) -> str:
    return f"\n{field.capitalize()}: "


def record_words() -> list[str]:
    words = [JSON_FIRST, JSON_NEXT, JSON_LAST, FORM_FIRST, FORM_NEXT, *HEADERS]
    for field in FIELDS[1:]:
        words += [json_key(field), form_key(field)]
    return words + CITIES + sorted(set(COUNTRY.values())) + MONTHS + DAYS + NUMBERS


SPECIAL = ["<|endoftext|>", "<|mask|>", "<|user|>", "<|end|>", "<|assistant|>"]
EOS, MASK, USER, END, ASSISTANT = range(len(SPECIAL))
# One that the engine knows by its marks; libllama's name for it is phi3.
CHAT_TEMPLATE = (
    "{% for message in messages %}{{'<|' + message['role'] + '|>\n' + message['content'] + '<|end|>\n'}}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>\n' }}{% endif %}"
)


def byte_letters() -> list[str]:
    """GPT-2's letter for each of the 256 bytes: printable ones are themselves, the others U+0100 and on."""
    plain = [*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    letters, extra = {b: chr(b) for b in plain}, 0
    for byte in range(256):
        if byte not in letters:
            letters[byte] = chr(0x100 + extra)
            extra += 1
    return [letters[byte] for byte in range(256)]


class Words:
    """Special tokens, 256 bytes, then words."""

    def __init__(self):
        words = PHRASES + record_words() + GIVEN + [" " + surname for surname in SURNAMES]
        self.words = [w for w in dict.fromkeys(words) if len(w) > 1]
        first_byte, first_word = len(SPECIAL), len(SPECIAL) + 256
        self.id = {chr(byte): first_byte + byte for byte in range(128)}
        self.id |= {word: first_word + i for i, word in enumerate(self.words)}
        self.bytes = [s.encode() for s in SPECIAL] + [bytes([b]) for b in range(256)] + [w.encode() for w in self.words]
        self.first_byte = first_byte
        self.lengths: dict[str, list[int]] = {}  # of the words that begin with a character, longest first
        for length, start in sorted({(len(w), w[0]) for w in self.words}, reverse=True):
            self.lengths.setdefault(start, []).append(length)

    def __len__(self):
        return len(self.bytes)

    def encode(self, text: str) -> list[int]:
        ids: list[int] = []
        at = 0
        while at < len(text):
            starts = (text[at : at + length] for length in self.lengths.get(text[at], ()))
            word = next((start for start in starts if start in self.id), text[at])
            ids += [self.id[word]] if word in self.id else [self.first_byte + b for b in word.encode()]
            at += len(word)
        return ids

    def decode(self, ids: list[int]) -> str:
        """Text up to the first end of text."""
        ids = ids[: ids.index(EOS)] if EOS in ids else ids
        return b"".join(self.bytes[i] for i in ids).decode("utf-8", "replace")

    def chat(self, prompt: str) -> list[int]:
        """A question in the chat template, ready for the answer."""
        line = self.id["\n"]
        return [USER, line, *self.encode(prompt), END, line, ASSISTANT, line]

    def vocabulary(self) -> Vocabulary:
        tokens = SPECIAL + byte_letters() + self.words
        kinds = [CONTROL] * len(SPECIAL) + [NORMAL] * 256 + [USER_DEFINED] * len(self.words)
        special = {"bos": EOS, "eos": EOS, "padding": EOS, "mask": MASK}
        # Nothing is merged, but libllama wants a list that is not empty: one of letters that no text has.
        letters = byte_letters()
        return Vocabulary("gpt2", tokens, kinds, special, pre="gpt-2", merges=[f"{letters[0]} {letters[0]}"],
                          flags={"add_bos_token": False, "add_eos_token": False}, chat_template=CHAT_TEMPLATE)  # fmt: skip
