import Domain
import Foundation
import HTTPTypes
import IdentityService
import NIOCore
import StrictJSON
import Testing
import Text

@Suite("Fuzzed: addresses of mail and forms")
struct TextFuzzTests {
    @Test("T-E4: an email address has one canonical form, ASCII behind the @, and no second reading")
    func emails() async throws {
        let words = [
            "@", ".", "..", "+tag", "xn--", "例え.jp", "münchen.de", "\u{212a}", "\u{130}", "\u{200d}", "\u{3002}",
            "\"", ",", " ", "<", ">", "(", "\r\n", String(repeating: "a", count: 64), "-", "ß", "ﬃ",
        ]
        try await Fuzzer(name: "email", words: words, rounds: 8000, maximumLength: 300).run { input in
            guard let text = String(validating: input, as: UTF8.self), let email = EmailAddress(text) else {
                return false
            }
            let canonical = email.canonical
            try hold(EmailAddress(canonical)?.canonical == canonical, "\(canonical) is not canonical")
            try hold(Array(email.original.utf8) == input, "is kept as \(email.original)")
            if text.utf8.allSatisfy({ $0 < 0x80 }) {
                try hold(EmailAddress(text.uppercased())?.canonical == canonical, "is another in capitals")
            }
            try hold(canonical.split(separator: "@", omittingEmptySubsequences: false).count == 2, "\(canonical)")
            try hold(email.domain.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f }, "\(email.domain) is not ASCII")
            let isSafe = canonical.unicodeScalars.allSatisfy {
                !" ,;:<>()[]\\\"\r\n\0".unicodeScalars.contains($0) && $0.properties.generalCategory != .control
            }
            try hold(isSafe && canonical.utf8.count < 256, "\(canonical)")
            let decoded = try JSONDecoder().decode([EmailAddress].self, from: JSONEncoder().encode([email]))
            try hold(decoded == [email], "is stored otherwise")
            return true
        }
    }

    @Test("a form reads alike when it is written again, and no name of it counts twice")
    func forms() async throws {
        let words = [
            "grant_type=refresh_token", "&refresh_token=", "&", "=", "+", "%20", "%2B", "%C3%A9", "%00", "%zz", "%e9",
            "&key=", "%26", "%3D",
        ]
        try await Fuzzer(name: "form", words: words, rounds: 8000).run { input in
            guard let text = String(validating: input, as: UTF8.self), let items = FormFields(strict: text) else {
                return false
            }
            let object: WireObject
            do throws(WireError) { object = try items.object() } catch {
                try hold(error.status == .badRequest, "\(error)")
                return false
            }
            let allowed = CharacterSet(charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
            let written = object.members.map { member in
                [member.name, member.value.string ?? ""]
                    .map { $0.addingPercentEncoding(withAllowedCharacters: allowed) ?? "" }.joined(separator: "=")
            }
            let again = try FormFields(strict: written.joined(separator: "&"))?.object()
            try hold(again?.members == object.members, "reads otherwise")
            for member in object.members {
                try hold(try items.value(member.name) == member.value.string, "\(member.name) reads otherwise")
                try hold(member.value.string?.utf8.contains(0) == false, "holds a NUL")
            }
            return true
        }
    }

    @Test("a path is decoded once, and leads to one route in whatever spelling")
    func paths() async throws {
        let fixture = try ServiceFixture(development: true)
        let table = fixture.assembly.responder.table
        let words = [
            "/v1/", "accounts", ":", "%3A", "%3a", "%253A", "/", "//", "%2F", "..", "projects/p/", "tenants/t/",
            "{project}",
            "/identitytoolkit.googleapis.com", "%00", "%ff", "?",
        ]
        try await Fuzzer(name: "path", words: words).run { input in
            guard let text = String(validating: input, as: UTF8.self) else { return false }
            guard case .route(let route, let parameters) = table.match(.post, text) else { return false }
            for value in parameters.values {
                try hold(!value.isEmpty && !value.contains("/"), "has a part \(value)")
            }
            let encoded = text.replacing(":", with: "%3A")
            guard case .route(let same, let others) = table.match(.post, encoded) else {
                throw Broken(description: "is another path with %3A")
            }
            try hold(same.path == route.path && others == parameters, "leads elsewhere with %3A")
            return true
        }
    }
}
