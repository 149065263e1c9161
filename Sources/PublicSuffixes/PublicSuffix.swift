import CPSL

/// Which names are shared by unrelated owners of names below them: `com`, `github.io` (<https://publicsuffix.org>).
package enum PublicSuffix {
    /// Whether the list that came with libpsl names it; a name that no rule covers is none.
    ///
    /// - Parameter name: lowercase, an internationalized one in its `xn--` form.
    package static func contains(_ name: String) -> Bool {
        // Immutable, and part of the library.
        psl_is_public_suffix2(psl_builtin(), name, PSL_TYPE_ICANN | PSL_TYPE_PRIVATE | PSL_TYPE_NO_STAR_RULE) != 0
    }
}
