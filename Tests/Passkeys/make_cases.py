"""Makes registrations and assertions, most of them mutated, and says how two other libraries judge each.

usage: make_cases.py COUNT SEED FILE

FILE gets a line of JSON for each case, with everything that the judges were given. The seed repeats the cases to the byte.
"""

import json
import logging
import random
import sys
import warnings

from authenticator import Assertion, Manufacturer, Registration, der
from fido2 import cbor
from judges import Fido2, WebAuthn
from mutations import ASSERTION, BOTH, REGISTRATION

MUTATIONS = [("registration", name, change) for name, change in {**BOTH, **REGISTRATION}.items()] + [
    ("assertion", name, change) for name, change in {**BOTH, **ASSERTION}.items()
]


def judge(verify, draft, response):
    """The judge's verdict, and what it found."""
    try:
        return True, verify(draft, response)
    except Exception:
        return False, None


def case(number, seed, manufacturer, judges):
    chance = random.Random(f"{seed}/{number}")
    if number % 4 == 0:
        # So that a refusal of what is good shows.
        ceremony, name, change = chance.choice([kind for kind in MUTATIONS if kind[1] == "nothing"])
    else:
        # All of them, in an order of the seed's own, before any comes again.
        turn, place = divmod(number - number // 4 - 1, len(MUTATIONS))
        order = list(range(len(MUTATIONS)))
        random.Random(f"{seed}/turn {turn}").shuffle(order)
        ceremony, name, change = MUTATIONS[order[place]]
    draft = Registration(chance, manufacturer) if ceremony == "registration" else Assertion(chance)
    change(draft)
    response = draft.response()
    verdicts = {library.name: judge(getattr(library, ceremony), draft, response) for library in judges}
    line = {
        "ceremony": ceremony, "mutation": name, "challenge": draft.challenge.hex(), "requiresUserVerification": draft.requires_uv,
        "id": draft.id.hex(), "response": {part: value.hex() for part, value in response.items()},
        "verdicts": {library: verdict for library, (verdict, _) in verdicts.items()}, "found": verdicts["webauthn"][1],
    }
    if ceremony == "assertion":
        credential = draft.credential
        line["handle"] = None if draft.handle is None else draft.handle.hex()
        line["stored"] = {
            "id": credential.id.hex(), "key": cbor.encode(credential.key.cose).hex(), "signCount": credential.count,
            "isBackupEligible": credential.is_eligible, "handle": credential.user.hex(),
        }
    return line


def main(count, seed, path):
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    manufacturer = Manufacturer(random.Random(f"{seed}/manufacturer"))
    judges = [Fido2(manufacturer), WebAuthn(manufacturer)]
    with open(path, "w") as file:
        print(json.dumps({"root": der(manufacturer.root.certificate).hex()}), file=file)
        for number in range(count):
            print(json.dumps(case(number, seed, manufacturer, judges)), file=file)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
