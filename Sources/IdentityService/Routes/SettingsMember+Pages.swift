import Projects

extension SettingsMember {
    /// The design of our pages, except the app's name.
    static let pages = [
        color("accentColor", \.accentColor), color("backgroundColor", \.backgroundColor),
        color("darkAccentColor", \.darkAccentColor), color("darkBackgroundColor", \.darkBackgroundColor),
    ]

    private static func color(
        _ name: String,
        _ value: any WritableKeyPath<PageSettings, PageColor?> & Sendable
    ) -> SettingsMember {
        let path = "identity.pages.\(name)"
        return SettingsMember(path: path) { object, name, settings in
            let text = try object.string(name).flatMap { $0.isEmpty ? nil : $0 }
            let color = text.flatMap { PageColor($0) }
            guard text == nil || color != nil else { throw WireError("INVALID_CONFIG", "\(path) must be #rrggbb.") }
            settings.pages[keyPath: value] = color
        }
    }
}

extension JSONWriter {
    mutating func pages(_ settings: PageSettings) {
        member("accentColor", settings.accentColor?.text)
        member("backgroundColor", settings.backgroundColor?.text)
        member("darkAccentColor", settings.darkAccentColor?.text)
        member("darkBackgroundColor", settings.darkBackgroundColor?.text)
    }
}
