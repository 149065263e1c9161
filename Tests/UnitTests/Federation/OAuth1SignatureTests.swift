import Federation
import Testing

/// RFC 5849's own examples.
@Suite struct OAuth1SignatureTests {
    private let client = "kd94hf93k423kf44"

    @Test("the signature base string of RFC 5849 §3.4.1.1")
    func baseString() {
        let base = OAuth1Signature.baseString(
            "post",
            "http://EXAMPLE.COM:80/request?b5=%3D%253D&a3=a&c%40=&a2=r%20b",
            [
                ("oauth_consumer_key", "9djdj82h48djs9d2"), ("oauth_token", "kkk9d7dh3k39sjv7"),
                ("oauth_signature_method", "HMAC-SHA1"), ("oauth_timestamp", "137131201"),
                ("oauth_nonce", "7d8f3e4a"), ("c2", ""), ("a3", "2 q"),
            ]
        )
        #expect(
            base
                == "POST&http%3A%2F%2Fexample.com%2Frequest&a2%3Dr%2520b%26a3%3D2%2520q%26a3%3Da%26b5%3D%253D%25253D%26c"
                + "%2540%3D%26c2%3D%26oauth_consumer_key%3D9djdj82h48djs9d2%26oauth_nonce%3D7d8f3e4a%26oauth_signature_"
                + "method%3DHMAC-SHA1%26oauth_timestamp%3D137131201%26oauth_token%3Dkkk9d7dh3k39sjv7"
        )
    }

    @Test("the requests of RFC 5849 §1.2: for an access token, and with it")
    func signatures() {
        func parameters(_ token: String, _ timestamp: String, _ nonce: String) -> [(name: String, value: String)] {
            [
                ("oauth_consumer_key", "dpf43f3p2l4k3l03"), ("oauth_token", token),
                ("oauth_signature_method", "HMAC-SHA1"), ("oauth_timestamp", timestamp), ("oauth_nonce", nonce),
            ]
        }
        let exchange = OAuth1Signature.baseString(
            "POST",
            "https://photos.example.net/token",
            parameters("hh5s93j4hdidpola", "137131201", "walatlh") + [("oauth_verifier", "hfdp7dh39dks9884")]
        )
        #expect(
            OAuth1Signature.hmacSHA1(exchange, clientSecret: client, tokenSecret: "hdhd0244k9j7ao03")
                == "gKgrFCywp7rO0OXSjdot/IHF7IU="
        )
        let call = OAuth1Signature.baseString(
            "GET",
            "http://photos.example.net/photos?file=vacation.jpg&size=original",
            parameters("nnch734d00sl2jdk", "137131202", "chapoH")
        )
        #expect(
            OAuth1Signature.hmacSHA1(call, clientSecret: client, tokenSecret: "pfkkdhi9sl3r4s00")
                == "MdpQcU8iPSUjWoN/UDMsK2sui9I="
        )
    }

    @Test("characters reserved by RFC 3986 are encoded, and a non-default port counts")
    func encoding() {
        let base = OAuth1Signature.baseString("GET", "https://api.example:8443", [("a", "!'()*+ ~é")])
        #expect(
            base == "GET&https%3A%2F%2Fapi.example%3A8443%2F&a%3D%2521%2527%2528%2529%252A%252B%2520~%25C3%25A9"
        )
        // Both secrets are encoded before they are joined.
        #expect(
            OAuth1Signature.hmacSHA1("x", clientSecret: "a&b", tokenSecret: "c")
                != OAuth1Signature.hmacSHA1("x", clientSecret: "a", tokenSecret: "b&c")
        )
    }
}
