"""Sentences in which one name comes twice and the other is the answer ("indirect object identification").

"When Mary and John went to the shop, John gave a ring to" has one right ending, " Mary". A sentence is an opening that
names both, an action of one of them, and the other. Some openings, some actions and some names are held out: what a
model does on them is not memory of the sentence.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple

NAMES: tuple[str, ...] = (
    "Mary",
    "John",
    "Tom",
    "Anna",
    "James",
    "Kate",
    "Paul",
    "Lucy",
    "Mark",
    "Alice",
    "Peter",
    "Rose",
    "David",
    "Emma",
    "Frank",
    "Jane",
    "George",
    "Sarah",
    "Henry",
    "Laura",
    "Jack",
    "Helen",
    "Sam",
    "Ruth",
    "Adam",
    "Claire",
    "Simon",
    "Grace",
    "Luke",
    "Julia",
    "Daniel",
    "Amy",
    "Robert",
    "Martha",
    "Alan",
    "Nora",
    "Martin",
    "Ellen",
    "Oscar",
    "Ida",
    "Leo",
    "Clara",
    "Max",
    "Diana",
    "Carl",
    "Eva",
    "Hugo",
    "Sophie",
    "Victor",
    "Olive",
)
HELD_OUT_NAMES: tuple[str, ...] = (
    "Ben",
    "Fanny",
    "William",
    "Susan",
    "Arthur",
    "Nancy",
    "Philip",
    "Judy",
    "Edward",
    "Lily",
)

OPENINGS: tuple[str, ...] = (
    "When {a} and {b} went to the {place},",
    "Then, {a} and {b} went to the {place}, and",
    "While {a} and {b} were at the {place},",
    "After {a} and {b} left the {place},",
    "Yesterday {a} and {b} met at the {place}.",
    "{a} and {b} were friends.",
    "{a} and {b} sat in the {place} all day.",
    "Before {a} and {b} came to the {place},",
    "One morning {a} saw {b} in the {place}.",
    "{a} walked with {b} to the {place}, where",
    "As {a} and {b} looked at the {place},",
    "Once {a} and {b} had seen the {place},",
    "{a} had a long talk with {b}, and then",
    "At the {place}, {a} waited for {b}.",
    "Last week {a} and {b} found a {thing} in the {place}, and",
    "{a} knew that {b} was at the {place}, so",
    "There were only {a} and {b} in the {place}.",
    "{a} lived with {b} near the {place}.",
    "In the evening {a} and {b} played in the {place}, and",
    "{a} liked {b} very much.",
    "Because {a} and {b} were late for the {place},",
    "Soon {a} and {b} stood before the {place}, and",
    "When {a} had come home with {b},",
    "{a}, who was the friend of {b}, had a {thing}.",
)
HELD_OUT_OPENINGS: tuple[str, ...] = (
    "Since {a} and {b} worked at the {place},",
    "On the way to the {place} {a} met {b}, and",
    "{a} came to the {place} with {b}. Then",
    "The day was cold when {a} and {b} reached the {place}.",
    "Every summer {a} and {b} stay at the {place}, where",
)
ACTIONS: tuple[str, ...] = (
    "{s} gave a {thing} to",
    "{s} gave the {thing} to",
    "{s} handed a {thing} to",
    "{s} sent a {thing} to",
    "{s} showed the {thing} to",
    "{s} read a letter to",
    "{s} said good morning to",
    "{s} told a story to",
    "{s} brought a {thing} for",
    "{s} sold the old {thing} to",
    "{s} wanted to speak to",
    "{s} bought a {thing} for",
    "{s} passed the {thing} over to",
    "{s} opened the door for",
    "{s} carried the {thing} for",
    "{s} wrote a note to",
    "{s} was very kind to",
    "{s} made a {thing} for",
)
HELD_OUT_ACTIONS: tuple[str, ...] = (
    "{s} offered a {thing} to",
    "{s} threw the {thing} to",
    "{s} sang a song for",
    "{s} decided to give a {thing} to",
)
PLACES: tuple[str, ...] = (
    "shop",
    "park",
    "house",
    "school",
    "garden",
    "church",
    "town",
    "river",
    "station",
    "market",
    "library",
    "office",
    "hill",
    "lake",
    "farm",
)
THINGS: tuple[str, ...] = (
    "ring",
    "book",
    "drink",
    "ball",
    "letter",
    "box",
    "key",
    "cup",
    "hat",
    "cake",
    "picture",
    "coat",
    "flower",
    "watch",
    "bottle",
    "chair",
    "bag",
    "card",
)
ENDINGS: tuple[str, ...] = (".", ".", ".", " at once.", " and smiled.", " in the evening.", " and left.")
ALONE: tuple[str, ...] = (
    "{a} went to the {place} and bought a {thing}.",
    "In the {place} there was a {thing} which {a} liked.",
    "{a} said that the {thing} was very old.",
    "The {thing} of {a} was in the {place}.",
)


class Sentence(NamedTuple):
    """A prompt that ends before the answer: `answer` comes once in it, `repeated` twice."""

    prompt: str
    answer: str
    repeated: str


def sentence(
    chance: random.Random,
    names: Sequence[str] = NAMES,
    openings: Sequence[str] = OPENINGS,
    actions: Sequence[str] = ACTIONS,
) -> Sentence:
    """One sentence; which of the two names comes first is left to chance, so that order gives nothing away."""
    first, second = chance.sample(names, 2)
    repeated = chance.choice((first, second))
    slots = {"a": first, "b": second, "s": repeated, "place": chance.choice(PLACES)}
    prompt = f"{chance.choice(openings)} {chance.choice(actions)}".replace("{thing}", "{}")
    filled = prompt.format(*chance.sample(THINGS, 2), **slots)
    return Sentence(filled, second if repeated == first else first, repeated)


def control(chance: random.Random) -> Sentence:
    """A sentence in which a third name acts, so that both others are equally right."""
    example = sentence(chance)
    others = [name for name in NAMES if name not in {example.answer, example.repeated}]
    head, _, tail = example.prompt.rpartition(example.repeated)
    return example._replace(prompt=head + chance.choice(others) + tail)


def alone(chance: random.Random) -> str:
    """A sentence with one name of any kind: from these the held-out names are known to be names."""
    slots = {"a": chance.choice(NAMES + HELD_OUT_NAMES), "place": chance.choice(PLACES)}
    return chance.choice(ALONE).format(thing=chance.choice(THINGS), **slots)
