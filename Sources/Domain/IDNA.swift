import Foundation
import Text

/// Domain names in ASCII (RFC 5890), through Foundation's URL parser, which follows UTS 46.
enum IDNA {
    static func ascii(_ domain: String) -> String? {
        if domain.isASCII { return domain }
        guard !domain.unicodeScalars.contains(where: { "/?#@:[]% \\".unicodeScalars.contains($0) }) else { return nil }
        var components = URLComponents()
        components.scheme = "https"
        components.host = domain
        guard let encoded = components.encodedHost?.lowercased(), encoded.isASCII,
            !encoded.contains("%")
        else { return nil }
        return encoded
    }
}
