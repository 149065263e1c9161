import Secrets
package import Sessions

extension RefreshToken {
    /// A token of the same session that the service has not made.
    package func forged(generation: Int = 0) throws -> RefreshToken {
        with(
            Secret(RandomSource.system.handle()),
            generation: generation,
            under: try KeyRing(keys: [KeyRing.Key(id: "forged", bytes: RandomSource.system.bytes(32))])
        )
    }
}
