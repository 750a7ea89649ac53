"""An import contract that import-linter has not got: nothing but the standard library."""

from __future__ import annotations

import sys
from typing import Any

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output


class StandardLibraryOnly(Contract):
    """Modules of `package` import themselves, the standard library, and `optional` packages; nothing else."""

    type_name = "standard_library_only"

    package = fields.StringField()
    optional = fields.SetField(subfield=fields.StringField(), required=False)

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """List each import that leads elsewhere, with the line it stands on."""
        # The fields are descriptors that turn into their values; import-linter types them as the descriptors.
        package: Any = self.package
        optional: Any = self.optional
        allowed = {package, *sys.stdlib_module_names, *(optional or ())}
        foreign = [
            detail
            for importer in sorted({package, *graph.find_descendants(package)})
            for imported in sorted(graph.find_modules_directly_imported_by(importer))
            if imported.partition(".")[0] not in allowed
            for detail in graph.get_import_details(importer=importer, imported=imported)
        ]
        return ContractCheck(kept=not foreign, metadata={"foreign": foreign})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Print what `check` found."""
        for detail in check.metadata["foreign"]:
            output.print_error(f"{detail['importer']}:{detail['line_number']}: {detail['line_contents']}", bold=False)
