/// The colors of a project's pages; nil uses the defaults.
package struct PageSettings: Sendable, Hashable, Codable {
    /// For buttons.
    package var accentColor: PageColor?
    /// Around the page's card.
    package var backgroundColor: PageColor?
    /// For buttons in dark mode; nil for ``accentColor``.
    package var darkAccentColor: PageColor?
    package var darkBackgroundColor: PageColor?

    package init() {}
}
