import StrictJSON

/// A tenant's keys: those that it publishes, and the one that it signs with.
struct KeySet {
    private let prefix: String
    private let kind: TestSigningKey.Kind
    private var made = 0
    private(set) var keys: [String: TestSigningKey] = [:]
    /// What the keys endpoint lists, in order.
    private(set) var published: [Entry] = []
    private var signing: String?

    enum Entry {
        case key(String)
        /// A JWK as text, valid or not.
        case raw(String)
    }

    init(prefix: String, kind: TestSigningKey.Kind) {
        self.prefix = prefix
        self.kind = kind
    }

    /// The key that signs; the first is made when it is first needed.
    mutating func signer() throws -> TestSigningKey {
        if let signing, let key = keys[signing] { return key }
        return try rotate(keepOld: false, publish: true)
    }

    /// Makes a new key and signs with it from now on.
    mutating func rotate(keepOld: Bool, publish: Bool) throws -> TestSigningKey {
        let key = try TestSigningKey(kid: "\(prefix)-\(made)", kind: kind, number: made)
        made += 1
        if !keepOld { published = [] }
        keys[key.kid] = key
        if publish { published.append(.key(key.kid)) }
        signing = key.kid
        return key
    }

    /// Adds and publishes a key without signing with it.
    mutating func add(_ key: TestSigningKey) {
        keys[key.kid] = key
        published.append(.key(key.kid))
    }

    mutating func addRaw(_ jwk: String, first: Bool) {
        published.insert(.raw(jwk), at: first ? 0 : published.endIndex)
    }

    /// Publishes exactly these.
    mutating func publish(only kids: [String]) {
        published = kids.map { .key($0) }
    }

    mutating func sign(with kid: String) {
        signing = kid
    }

    /// The published keys by their ids, in PEM.
    mutating func pemMap() throws -> JSONObject {
        _ = try signer()
        var map: JSONObject = [:]
        for case .key(let kid) in published { map[kid] = (keys[kid]?.publicKeyPEM).map { .string($0) } }
        return map
    }

    /// - Parameter issuer: what each key says instead of `alg`; nil for keys with `alg`.
    mutating func document(issuer: String?) throws -> JSONObject {
        _ = try signer()
        var list: [JSONValue] = []
        for entry in published {
            switch entry {
            case .key(let kid):
                guard var jwk = try keys[kid]?.jwk() else { continue }
                if let issuer { jwk.change(set: ["issuer": .string(issuer)], remove: ["alg"]) }
                list.append(.object(jwk))
            case .raw(let text): list.append(.raw(text))
            }
        }
        return ["keys": .array(list)]
    }
}
