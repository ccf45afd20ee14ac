#!/usr/bin/env python3
"""Make 5,000 short records of invented people, with duplicates that are known.

    python3 examples/make_records.py > configs/records.tsv

A record is a name, a street address and a city. Records of one person carry the same number in the column `person`. Copies differ by typing errors,
abbreviations, swapped words and missing parts, as lists that were typed by several offices do. The same seed gives the same bytes.
"""

import argparse
import random

GIVEN = """Adam Agnes Albert Alice Amir Andrea Anna Anton Ava Beatrice Benjamin Bruno Carla Carlos Caroline Cecilia Clara Daniel David Diana Dmitri
Edith Edward Elena Elias Elisabeth Emil Emma Erik Esther Fatima Felix Fiona Frank Frederik Gabriel Georg Gloria Greta Hannah Harold Hassan Helen
Henry Hugo Ida Igor Ines Irene Isaac Ivan Jakob James Jan Jasmin Johanna Jonathan Josephine Julia Julian Karim Karin Katharina Konrad Lars Laura
Leonard Lidia Linus Louise Lucas Magdalena Marco Margaret Maria Marianne Martin Mathilda Maximilian Michael Miriam Nadia Natalie Nicholas Nina Nora
Oliver Oscar Patricia Paul Peter Philippa Quentin Rachel Rafael Rebecca Richard Robert Rosa Ruben Samuel Sarah Sebastian Sofia Stella Susanna Theodor
Thomas Ulrich Ursula Valentin Vera Victor Viola Walter Wilhelm Xenia Yara Yusuf Zoe""".split()

FAMILY = """Abbott Ackermann Aldridge Andersen Appleton Baker Barlow Bauer Becker Bennett Berger Bishop Blackwood Brandt Brooks Burton Caldwell Cameron
Carlsson Chapman Clarke Collins Cooper Cramer Crawford Dalton Dawson Delgado Dietrich Donovan Drummond Eastman Eckhart Edwards Ellison Engel Fairchild
Farrell Ferguson Fischer Fitzgerald Fleming Foster Franklin Friedrich Gallagher Gardner Gibson Goldberg Graham Greenwood Gruber Haas Hamilton Hansen
Harrington Hartmann Hawkins Henderson Hoffmann Holloway Huber Hughes Ivanov Jansen Jenkins Johansson Kaufmann Keller Kendrick Klein Kowalski Kramer
Lambert Lancaster Larsen Lawrence Lehmann Lindgren Livingston Lorenz Mackenzie Marshall Martinez McCarthy Meyer Mitchell Morrison Mueller Nakamura
Neumann Newton Nielsen Norwood Oakley Olsen Ortega Osborne Palmer Parkinson Patterson Pedersen Petersen Pfeiffer Preston Quigley Ramirez Reinhardt
Richter Robinson Romero Rosenberg Rutherford Sanders Schmidt Schneider Schubert Shepherd Silva Simmons Sorensen Stevenson Sullivan Sutherland Tanaka
Templeton Thornton Turner Underwood Valdez Vogel Wagner Walton Weaver Weber Whitfield Wilkinson Winkler Woodward Yamamoto York Zimmermann""".split()

STREET = """Acacia Alder Ash Bay Beech Birch Bridge Brook Castle Cedar Chapel Cherry Chestnut Church Cliff College Cypress Dale Elm Fairview Field Forest
Garden Grange Green Grove Harbor Hawthorn Hazel High Hill Holly Ivy Juniper King Lake Laurel Lavender Lime Linden Magnolia Main Maple Market Meadow
Mill Monument Mulberry Oak Old Orchard Orchid Park Pine Poplar Prospect Quarry Queen Railway Ridge River Rose Rowan School Sea Spring Spruce Station
Sunset Sycamore Temple Tower Union Valley Victoria Vine Violet Walnut Water Well Willow Windmill Wood""".split()

KIND = {"Street": "St", "Road": "Rd", "Avenue": "Ave", "Lane": "Ln", "Drive": "Dr", "Court": "Ct", "Square": "Sq", "Terrace": "Ter"}

CITY = """Ashford Barton Belmont Brighton Burlington Cambridge Camden Carlton Chester Clifton Dayton Dover Easton Fairfield Georgetown Glendale Greenville
Hampton Hillsboro Hudson Kingston Lakewood Lebanon Lexington Madison Marion Milford Milton Newport Norwood Oakland Oxford Plymouth Princeton Richmond
Riverside Salem Springfield Stratford Trenton Troy Union Vernon Warren Waterford Westfield Weston Winchester Windsor York""".split()

LETTERS = "abcdefghijklmnopqrstuvwxyz"


class Draws:
    """Draws from the Mersenne Twister by `random()` alone, whose stream Python keeps across versions."""

    def __init__(self, seed):
        self.random = random.Random(seed).random

    def below(self, limit):
        return int(self.random() * limit)

    def one_of(self, values):
        return values[self.below(len(values))]

    def happens(self, probability):
        return self.random() < probability


def typing_error(draws, text):
    """`text` with one letter replaced, left out, doubled or swapped with the next."""
    at = draws.below(len(text) - 1)
    kind = draws.below(4)
    if kind == 0:
        return text[:at] + draws.one_of(LETTERS) + text[at + 1 :]
    if kind == 1:
        return text[:at] + text[at + 1 :]
    if kind == 2:
        return text[:at] + text[at] + text[at:]
    return text[:at] + text[at + 1] + text[at] + text[at + 2 :]


def copy_of(draws, person):
    """One way of writing down a person."""
    given, middle, family, number, street, kind, city = person
    if draws.happens(0.25):
        given = given[0] + "."
    middle = "" if draws.happens(0.4) else middle
    name = [given, middle, family] if draws.happens(0.75) else [family + ",", given, middle]
    if draws.happens(0.45):
        kind = KIND[kind] + ("." if draws.happens(0.5) else "")
    address = f"{number} {street} {kind}"
    parts = [" ".join(word for word in name if word), address]
    if draws.happens(0.85):
        parts.append(city)
    record = ", ".join(parts)
    for probability in (0.5, 0.25, 0.1):
        if draws.happens(probability):
            record = typing_error(draws, record)
    return record.lower() if draws.happens(0.1) else record


def records(count, seed):
    """(person, record) for `count` records in an order that carries no information."""
    draws = Draws(seed)
    made = []
    person = 0
    while len(made) < count:
        who = (
            draws.one_of(GIVEN),
            chr(ord("A") + draws.below(26)) + ".",
            draws.one_of(FAMILY),
            1 + draws.below(299),
            draws.one_of(STREET),
            draws.one_of(list(KIND)),
            draws.one_of(CITY),
        )
        share = draws.random()
        copies = 1 if share < 0.70 else 2 if share < 0.88 else 3 if share < 0.96 else 4 + draws.below(3)
        made.extend((person, copy_of(draws, who)) for _ in range(min(copies, count - len(made))))
        person += 1
    for last in range(len(made) - 1, 0, -1):
        other = draws.below(last + 1)
        made[last], made[other] = made[other], made[last]
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=5000, help="how many records (default: 5000)")
    parser.add_argument("--seed", type=int, default=2022, help="seed of all draws (default: 2022)")
    arguments = parser.parse_args()
    print("id\tperson\ttext")
    for number, (person, record) in enumerate(records(arguments.records, arguments.seed)):
        print(f"{number}\t{person}\t{record}")


if __name__ == "__main__":
    main()
