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

FRAMES: tuple[str, ...] = (
    "When {clause},",
    "While {clause},",
    "After {clause},",
    "Before {clause},",
    "As {clause},",
    "Because {clause},",
    "Once {clause},",
    "Then {clause}, and",
    "Yesterday {clause}.",
    "One morning {clause}, and",
    "Last week {clause}. Then",
    "In the evening {clause}, so",
    "Soon {clause}.",
    "That day {clause}, and there",
    "{clause}.",
    "{clause}, and then",
    "{clause}, and later",
    "{clause}. Afterwards",
)
HELD_OUT_FRAMES: tuple[str, ...] = ("Since {clause},", "Every summer {clause}, and", "It was cold when {clause}.")
CLAUSES: tuple[str, ...] = (
    "{a} and {b} went to the {place}",
    "{a} and {b} were at the {place}",
    "{a} and {b} left the {place}",
    "{a} and {b} sat in the {place}",
    "{a} and {b} came to the {place}",
    "{a} and {b} looked at the {place}",
    "{a} and {b} played in the {place}",
    "{a} and {b} found a {thing} in the {place}",
    "{a} and {b} were friends",
    "{a} met {b} at the {place}",
    "{a} saw {b} in the {place}",
    "{a} walked with {b} to the {place}",
    "{a} waited for {b} at the {place}",
    "{a} lived with {b} near the {place}",
    "{a} knew that {b} was at the {place}",
    "{a} had a long talk with {b}",
    "{a} liked {b}",
    "{a} came home with {b}",
    "there were only {a} and {b} in the {place}",
)
HELD_OUT_CLAUSES: tuple[str, ...] = (
    "{a} and {b} worked at the {place}",
    "{a} and {b} stayed near the {place}",
    "{a} stood with {b} before the {place}",
)
_GIVEN = ("a {thing}", "the {thing}", "a new {thing}", "the old {thing}")
_GIVING = ("gave", "handed", "sent", "showed", "sold", "brought", "passed", "returned")
_MAKING = ("bought", "made", "found", "chose", "carried")
ACTIONS: tuple[str, ...] = (
    *(f"{{s}} {verb} {given} to" for verb in _GIVING for given in _GIVEN),
    *(f"{{s}} {verb} {given} for" for verb in _MAKING for given in _GIVEN),
    "{s} read a letter to",
    "{s} wrote a note to",
    "{s} told a story to",
    "{s} said good morning to",
    "{s} wanted to speak to",
    "{s} was very kind to",
    "{s} opened the door for",
    "{s} looked at",
    "{s} smiled at",
    "{s} talked with",
    "{s} asked a question of",
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
    "The {thing} in the {place} was the one that they gave to {a}.",
    "{a} came to the {place}, and a {thing} was given to {a}.",
    "When {a} was at the {place}, they handed the {thing} to {a}.",
    "After {a} had left, there was a {thing} in the {place} for {a}.",
    "{a} had a {thing}. It was a {thing} for {a}.",
)


class Sentence(NamedTuple):
    """A prompt that ends before the answer: `answer` comes once in it, `repeated` twice."""

    prompt: str
    answer: str
    repeated: str


def openings(frames: Sequence[str], clauses: Sequence[str]) -> tuple[str, ...]:
    """Every clause in every frame."""
    filled = (frame.replace("{clause}", clause) for frame in frames for clause in clauses)
    return tuple(text[0].upper() + text[1:] for text in filled)


OPENINGS = openings(FRAMES, CLAUSES)
HELD_OUT_OPENINGS = openings(HELD_OUT_FRAMES, HELD_OUT_CLAUSES)


def sentence(
    chance: random.Random,
    names: Sequence[str] = NAMES,
    openings: Sequence[str] = OPENINGS,
    actions: Sequence[str] = ACTIONS,
) -> Sentence:
    """One sentence; which of the two names comes first is left to chance, so that order gives nothing away."""
    first, second = chance.sample(names, 2)
    repeated = chance.choice((first, second))
    filled = _filled(chance, f"{chance.choice(openings)} {chance.choice(actions)}", a=first, b=second, s=repeated)
    return Sentence(filled, second if repeated == first else first, repeated)


def control(chance: random.Random) -> Sentence:
    """A sentence in which a third name acts, so that both others are equally right."""
    example = sentence(chance)
    others = [name for name in NAMES if name not in {example.answer, example.repeated}]
    head, _, tail = example.prompt.rpartition(example.repeated)
    return example._replace(prompt=head + chance.choice(others) + tail)


def alone(chance: random.Random) -> str:
    """A sentence with one name of any kind, half of them held out: from these it is known that they are names."""
    return _filled(chance, chance.choice(ALONE), a=chance.choice(chance.choice((NAMES, HELD_OUT_NAMES))))


def _filled(chance: random.Random, template: str, **names: str) -> str:
    """The template with its names, a place, and a thing of its own wherever there is one."""
    things = chance.sample(THINGS, 2)
    return template.replace("{thing}", "{}").format(*things, place=chance.choice(PLACES), **names)
