extension String {
    /// Adds parameters to a URL's query; existing ones keep the URL's value, except where ours must take precedence.
    package func adding(_ parameters: [(name: String, value: String)]) -> String {
        let mark = firstIndex(of: "?") ?? endIndex
        let ours = Set(parameters.map { $0.name.lowercased() })
        let kept = FormText.pairs(String(self[mark...].dropFirst())).filter { pair in
            !ours.contains(FormText.decode(pair.name, plusIsSpace: true).lowercased())
        }
        let query = kept.map { $0.value.isEmpty ? String($0.name) : "\($0.name)=\($0.value)" }
        return self[..<mark] + "?" + (query + [FormText.encode(parameters)]).joined(separator: "&")
    }
}
