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
    package struct Field: Sendable {
        package typealias Path = WritableKeyPath<Profile, String?> & Sendable

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

        /// In the definition of a provider.
        package let name: String
        /// In messages and files.
        package let wireName: String
        package let path: any Path
        /// In the tables of the places that keep it.
        package let column: StaticString
        /// The claim of OpenID Connect Core 1.0 §5.1.
        package let claim: String
        package let places: Places

        package var isURL: Bool { claim == "picture" }

        fileprivate init(
            _ name: String,
            _ path: any Path,
            column: StaticString = "",
            claim: String,
            wireName: String? = nil,
            in places: Places = []
        ) {
            (self.name, self.path, self.column, self.claim) = (name, path, column, claim)
            (self.wireName, self.places) = (wireName ?? name, places)
        }
    }

    package static let fields: [Field] = [
        Field("displayName", \.displayName, column: "display_name", claim: "name", in: .everywhere),
        Field("photoURL", \.photoURL, column: "photo_url", claim: "picture", wireName: "photoUrl", in: .everywhere),
        Field("screenName", \.screenName, column: "screen_name", claim: "preferred_username", in: .ours),
        Field("language", \.language, column: "language", claim: "locale", in: .account),
        Field("timeZone", \.timeZone, column: "time_zone", claim: "zoneinfo", in: .account),
        Field("dateOfBirth", \.dateOfBirth, column: "date_of_birth", claim: "birthdate", in: .account),
        Field("firstName", \.firstName, claim: "given_name"),
        Field("lastName", \.lastName, claim: "family_name"),
        Field("nickName", \.nickName, claim: "nickname"),
    ]

    package static let ofAccounts = fields.filter { $0.places.contains(.account) }
    package static let ofIdentities = fields.filter { $0.places.contains(.identity) }

    package subscript(field: Field) -> String? {
        get { self[keyPath: field.path] }
        set { self[keyPath: field.path] = newValue }
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
