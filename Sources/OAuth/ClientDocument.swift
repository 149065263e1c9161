package import Foundation
import StrictJSON
import Text

/// A client whose ID is the URL of a document about it (OAuth Client ID Metadata Document, draft-ietf-oauth-client-id-
/// metadata-document): how clients of MCP introduce themselves.
package enum ClientDocument {
    /// In bytes (§6.6).
    package static let maximumSize = 5_120
    /// How long a document is believed without reading it again.
    package static let freshSeconds: TimeInterval = 86_400
    /// How long it is believed if its site does not answer.
    package static let staleSeconds: TimeInterval = 2 * 86_400
    /// How long a document must be gone, at least, before its client is.
    package static let missingSeconds: TimeInterval = 3_600
    /// How long one is kept that nobody signs in with.
    package static let keptSeconds: TimeInterval = 90 * 86_400

    /// Whether a client's ID is such a URL (§3): https, with a path, without a fragment, credentials and dot segments.
    ///
    /// - Parameter allowsLoopback: whether it may be on this machine, over http.
    package static func isID(_ text: String, allowsLoopback: Bool) -> Bool {
        guard text.utf8.count <= 512, let url = URLParts(text), url.isSecure(orLoopback: allowsLoopback),
            url.path.count > 1
        else { return false }
        return !url.path.split(separator: "/").contains { segment in
            let plain = PercentEncoding.decode(segment)
            return plain == nil || plain == "." || plain == ".."
        }
    }

    /// Whether a client has such an ID, whatever is there.
    package static func isNamed(_ id: String) -> Bool { id.contains("://") }

    /// Whether it is the document of another client: one that has taken the URL's place.
    package static func isAnothers(_ body: [UInt8], than id: String) -> Bool {
        let named = (try? JSONValue(sent: body, depth: 8))?.object?["client_id"]?.string
        return named.map { !$0.utf8.elementsEqual(id.utf8) } ?? false
    }

    /// - Throws: ``OAuthError``.
    package static func metadata(_ body: [UInt8], of id: String) throws(OAuthError) -> ClientMetadata {
        guard let document = (try? JSONValue(sent: body, depth: 8))?.object else {
            throw OAuthError(.invalidClient, "The client's metadata document is no JSON object")
        }
        // The document must say that it is the client's: otherwise any JSON on the site could be one (§4.1).
        guard let named = document["client_id"]?.string, named.utf8.elementsEqual(id.utf8) else {
            throw OAuthError(.invalidClient, "client_id in the client's metadata document is not its URL")
        }
        var open = document
        open["token_endpoint_auth_method"] = document["token_endpoint_auth_method"] ?? "none"
        let metadata = try ClientMetadata(open)
        guard document["client_secret"] == nil, !metadata.authentication.needsSecret else {
            throw OAuthError(.invalidClient, "A client with a metadata document has no secret")
        }
        return metadata
    }
}
