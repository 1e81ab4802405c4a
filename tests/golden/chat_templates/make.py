"""Writes what Jinja makes of the templates in cases.json into the same file, as the original software renders them:
transformers' settings of the Python package jinja2. Run it after adding a case, in an environment with jinja2."""

import datetime
import json
import pathlib

from jinja2 import nodes
from jinja2.exceptions import TemplateError
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

CASES = pathlib.Path(__file__).with_name("cases.json")


class Generation(Extension):
    """{% generation %} marks the assistant's words for training and writes nothing."""

    tags = {"generation"}

    def parse(self, parser: Parser) -> list[nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


def refuse(message: str) -> None:
    raise TemplateError(message)


def environment() -> ImmutableSandboxedEnvironment:
    result = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols, Generation])
    result.filters["tojson"] = lambda value, ensure_ascii=False, **how: json.dumps(value, ensure_ascii=ensure_ascii, **how)
    result.globals["raise_exception"] = refuse
    result.globals["strftime_now"] = lambda form: datetime.datetime(2024, 7, 26).strftime(form)
    return result


def main() -> None:
    cases = json.loads(CASES.read_text())
    for case in cases:
        template = environment().from_string(case["template"])
        case["text"] = template.render(messages=case["messages"], add_generation_prompt=True, tools=case.get("tools"),
                                       documents=None, bos_token="<s>", eos_token="</s>")  # fmt: skip
    CASES.write_text(json.dumps(cases, indent=1) + "\n")


if __name__ == "__main__":
    main()
