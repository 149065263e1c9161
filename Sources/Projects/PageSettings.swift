/// The colors of a project's pages; nil leaves them as they come.
package struct PageSettings: Sendable, Hashable, Codable {
    /// Of buttons.
    package var accentColor: PageColor?
    /// Around the page's card.
    package var backgroundColor: PageColor?
    /// Of buttons for people who have their device dark; nil for ``accentColor``.
    package var darkAccentColor: PageColor?
    package var darkBackgroundColor: PageColor?

    package init() {}
}
