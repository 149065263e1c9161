import Projects

extension PageSettings {
    /// The properties of the sheet that a project has otherwise, each color with text that can be read on it.
    ///
    /// A ``Projects/PageColor`` can hold nothing but a color: no text of a project gets into the style.
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
