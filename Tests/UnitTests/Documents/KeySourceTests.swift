import TestKit
import Testing

@Suite("Keys in sources")
struct KeySourceTests {
    /// swift-crypto before 4.5.2 frees a key twice if its bytes turn out not to be an RSA key, and corrupts the heap.
    @Test("only SystemCrypto lets swift-crypto and swift-certificates read keys and certificates")
    func readers() throws {
        let readers =
            #/\w*(?:\(|, )(?:unsafe)?(?:der|pem|DER|PEM)(?:Representation|Encoded|Bytes|Document|String): .*|PublicKey\(n: .*/#
        // Not keys: a signature, the value of an extension, and the text around a key.
        let others = #/ECDSASignature\(derRepresentation:|ASN1OctetString\(derEncoded:|PEMDocument\(pemString:/#
        let found = try Repository.files(below: "Sources", suffix: ".swift").filter { !$0.hasPrefix("SystemCrypto/") }
            .flatMap { file in
                try Repository.text("Sources/\(file)").split(separator: "\n")
                    .filter { $0.contains(readers) && !$0.contains(others) }.map { "\(file): \($0)" }
            }
        #expect(found == [])
    }
}
