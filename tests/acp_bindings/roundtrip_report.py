"""Report on the round trip: `python -m tests.acp_bindings.roundtrip_report` prints a line for each schema."""

import sys

from tests.acp_bindings.instances import PER_DEFINITION
from tests.acp_bindings.roundtrip import generated, losses
from tests.acp_bindings.schemas import PACKAGES, load


def main() -> int:
    """Print the numbers of definitions, instances and unchanged instances; return 1 if one changed."""
    complete = True
    sys.stdout.write(f"{'schema':<14}{'definitions':>12}{'instances':>12}{'lossless':>12}\n")
    for package in PACKAGES:
        schema = load(package)
        found = [loss for name in schema.definitions for loss in losses(schema, name, generated(package, name))]
        instances = len(schema.definitions) * PER_DEFINITION
        sys.stdout.write(f"{package:<14}{len(schema.definitions):>12}{instances:>12}{instances - len(found):>12}\n")
        sys.stderr.writelines(f"{loss}\n" for loss in found[:3])
        complete = complete and not found
    return 0 if complete else 1


if __name__ == "__main__":
    sys.exit(main())
