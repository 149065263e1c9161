/// What is known of a person beyond addresses and ways to sign in; nil where nobody said it.
///
/// A provider's response has all members. An account and a linked identity keep those whose ``Field`` says so.
package struct Profile: Sendable, Hashable, Codable {
    package var displayName: String?
    package var photoURL: String?
    package var screenName: String?
    package var language: String?
    package var timeZone: String?
    package var dateOfBirth: String?
    package var firstName: String?
    package var lastName: String?
    package var nickName: String?

    package init() {}

    package init(displayName: String? = nil, photoURL: String? = nil, screenName: String? = nil) {
        (self.displayName, self.photoURL, self.screenName) = (displayName, photoURL, screenName)
    }
}

extension Profile {
    /// A member of a profile, described once: messages, files, statements and definitions read this list.
    ///
    /// Its raw value is its name in the definition of a provider.
    package enum Field: String, Sendable, CaseIterable {
        case displayName
        case photoURL
        case screenName
        case language
        case timeZone
        case dateOfBirth
        case firstName
        case lastName
        case nickName

        package struct Places: OptionSet, Sendable {
            package let rawValue: Int

            package init(rawValue: Int) { self.rawValue = rawValue }

            package static let account = Places(rawValue: 1)
            /// A linked identity, at the time of its linking.
            package static let identity = Places(rawValue: 2)
            /// A user in the files of `firebase auth:export`.
            package static let firebaseFile = Places(rawValue: 4)

            fileprivate static let ours: Places = [.account, .identity]
            fileprivate static let everywhere: Places = [.account, .identity, .firebaseFile]
        }

        private var facts: (column: StaticString, claim: String, places: Places) {
            switch self {
            case .displayName: ("display_name", "name", .everywhere)
            case .photoURL: ("photo_url", "picture", .everywhere)
            case .screenName: ("screen_name", "preferred_username", .ours)
            case .language: ("language", "locale", .account)
            case .timeZone: ("time_zone", "zoneinfo", .account)
            case .dateOfBirth: ("date_of_birth", "birthdate", .account)
            case .firstName: ("", "given_name", [])
            case .lastName: ("", "family_name", [])
            case .nickName: ("", "nickname", [])
            }
        }

        package var name: String { rawValue }
        /// In messages and files.
        package var wireName: String { self == .photoURL ? "photoUrl" : rawValue }
        /// In the tables of the places that keep it.
        package var column: StaticString { facts.column }
        /// The claim of OpenID Connect Core 1.0 §5.1.
        package var claim: String { facts.claim }
        package var places: Places { facts.places }
        package var isURL: Bool { self == .photoURL }
    }

    package static let fields = Field.allCases
    package static let ofAccounts = fields.filter { $0.places.contains(.account) }
    package static let ofIdentities = fields.filter { $0.places.contains(.identity) }

    // Every row and every answer passes here: a table of key paths took a tenth of a list of accounts.
    package subscript(field: Field) -> String? {
        get {
            switch field {
            case .displayName: displayName
            case .photoURL: photoURL
            case .screenName: screenName
            case .language: language
            case .timeZone: timeZone
            case .dateOfBirth: dateOfBirth
            case .firstName: firstName
            case .lastName: lastName
            case .nickName: nickName
            }
        }
        set {
            switch field {
            case .displayName: displayName = newValue
            case .photoURL: photoURL = newValue
            case .screenName: screenName = newValue
            case .language: language = newValue
            case .timeZone: timeZone = newValue
            case .dateOfBirth: dateOfBirth = newValue
            case .firstName: firstName = newValue
            case .lastName: lastName = newValue
            case .nickName: nickName = newValue
            }
        }
    }

    /// Only these members.
    package func only(_ fields: [Field]) -> Profile {
        var profile = Profile()
        for field in fields { profile[field] = self[field] }
        return profile
    }

    /// Takes what is missing from another one.
    package mutating func fill(from other: Profile) {
        for field in Self.fields where self[field] == nil { self[field] = other[field] }
    }
}
