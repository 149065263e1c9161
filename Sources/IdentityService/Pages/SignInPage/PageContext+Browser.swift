extension PageContext {
    /// What the user calls the browser and the device, such as "Chrome on Linux", as far as we know them.
    ///
    /// - Parameter userAgent: the `User-Agent` header. No word of it is in the name.
    func browserName(of userAgent: String?) -> String {
        func name(_ names: [(mark: String, name: String)]) -> String? {
            names.first { userAgent?.contains($0.mark) ?? false }?.name
        }
        guard let browser = name(Self.browsers) else { return text(.passkeyUnnamed) }
        guard let platform = name(Self.platforms) else { return browser }
        return text(.passkeyBrowser, ["BROWSER": browser, "PLATFORM": platform])
    }

    /// The first match counts: most browsers also claim to be Chrome or Safari.
    private static let browsers = [
        ("Edg", "Edge"), ("OPR/", "Opera"), ("SamsungBrowser/", "Samsung Internet"), ("Firefox/", "Firefox"),
        ("FxiOS/", "Firefox"), ("Chrome/", "Chrome"), ("CriOS/", "Chrome"), ("Safari/", "Safari"),
    ]

    /// The first match counts: Android claims to be Linux, and iOS to be like Mac OS X.
    private static let platforms = [
        ("Android", "Android"), ("iPhone", "iPhone"), ("iPad", "iPad"), ("CrOS", "ChromeOS"), ("Windows", "Windows"),
        ("Macintosh", "Mac"), ("Linux", "Linux"),
    ]
}
