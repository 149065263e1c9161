/// The claims of a token, each parsed when you ask for it.
public struct Claims: Sendable {
    private let json: [UInt8]
    private let members: [ClaimParser.Member]

    /// Returns nil unless the bytes are a JSON object without a member that occurs twice.
    init?(_ json: [UInt8]) { self.init(json, in: json.indices) }

    private init?(_ json: [UInt8], in range: Range<Int>) {
        guard let members = ClaimParser.members(of: json, in: range) else { return nil }
        self.json = json
        self.members = members
    }

    public var names: [String] { members.map(\.name) }

    public subscript(name: String) -> ClaimValue? {
        range(of: name).flatMap { ClaimParser.value(of: json, in: $0) }
    }

    /// The members of a claim that is an object.
    func object(_ name: String) -> Claims? { range(of: name).flatMap { Claims(json, in: $0) } }

    private func range(of name: String) -> Range<Int>? { members.first { $0.isNamed(name) }?.value }
}
