/// What this is, for those who ask it.
package enum Release {
    package static let version = "0.1.0"
}
