import Projects

extension PageSettings {
    /// The style properties that a project overrides, each color with readable text.
    ///
    /// A ``Projects/PageColor`` can contain only a color, so no text of a project reaches the style sheet.
    var style: String {
        let light = rules(accent: accentColor, background: backgroundColor)
        let dark = rules(accent: darkAccentColor ?? accentColor, background: darkBackgroundColor)
        return (light.isEmpty ? "" : ":root{\(light)}")
            + (dark.isEmpty ? "" : "@media(prefers-color-scheme:dark){:root{\(dark)}}")
    }

    private func rules(accent: PageColor?, background: PageColor?) -> String {
        [("accent", accent), ("background", background)].map { name, color in
            color.map { "--\(name):\($0.text);--on-\(name):\($0.readableText.text);" } ?? ""
        }.joined()
    }
}
