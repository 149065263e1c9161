import HTTPTypes
package import Outbound
import Passwords
package import Secrets

/// Asks a service with the range API of Have I Been Pwned (https://haveibeenpwned.com/API/v3#PwnedPasswords), such as
/// `https://api.pwnedpasswords.com/range/`.
///
/// It learns the first 20 bits of a hash, which some thousand leaked passwords share, and pads its answer, so that nobody
/// on the way learns more from the size (k-anonymity).
package struct LeakedPasswordService: LeakedPasswords {
    private let url: String
    private let http: OutboundClient

    /// - Parameter url: https; the five digits are appended.
    package init(_ url: String, through http: OutboundClient) {
        self.url = url.hasSuffix("/") ? url : url + "/"
        self.http = http
    }

    /// - Throws: ``OutboundError``, ``Unusable``.
    package func contains(_ password: Secret, share: String) async throws -> Bool {
        let digits = LeakedPasswordHash(of: password).bytes.lowercaseHex.uppercased()
        var request = OutboundRequest(
            url: url + digits.prefix(5),
            maximumResponseSize: 1 << 20,
            timeLimit: .seconds(2)
        )
        request.headers.append(HTTPField(name: .addPadding, value: "true"))
        let response = try await OutboundShare.with(share) { [http, request] () async throws(OutboundError) in
            try await http.send(request)
        }
        guard response.isSuccess else { throw Unusable(status: response.status) }
        // `SUFFIX:COUNT`; the count of padding is 0.
        return response.body.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }.contains { line in
            let parts = String(decoding: line, as: UTF8.self).split(separator: ":")
            return parts.count == 2 && parts[0].uppercased() == digits.dropFirst(5) && parts[1] != "0"
        }
    }

    /// The service answered with another status than 2xx.
    package struct Unusable: Error, Sendable { package let status: Int }
}

extension HTTPField.Name {
    fileprivate static let addPadding = Self("add-padding") ?? .xContentTypeOptions
}
