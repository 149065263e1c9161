// swift-tools-version: 6.2
import PackageDescription

let client = Target.Dependency.product(name: "IdentityClient", package: "Client")

/// A sample: its flow, which the app in Apps/ uses too, and its command.
func sample(_ flow: String, command: String) -> [Target] {
    [
        .target(name: flow, dependencies: [client]),
        .executableTarget(name: command, dependencies: [client, .target(name: flow), "SampleSupport"]),
    ]
}

let package = Package(
    name: "identity-samples",
    platforms: [.iOS(.v16), .macOS(.v13)],
    products: [
        .library(name: "YahooJapanSample", targets: ["YahooJapanSample"]),
        .library(name: "FirebaseWithYahooSample", targets: ["FirebaseWithYahooSample"]),
        .library(name: "FeedlySample", targets: ["FeedlySample"]),
        .library(name: "GitHubSample", targets: ["GitHubSample"]),
        .library(name: "AppleSample", targets: ["AppleSample"]),
    ],
    dependencies: [.package(path: "../Client")],
    targets: [.target(name: "SampleSupport", dependencies: [client])]
        + sample("YahooJapanSample", command: "yahoo-japan")
        + sample("FirebaseWithYahooSample", command: "firebase-with-yahoo")
        + sample("FeedlySample", command: "feedly")
        + sample("GitHubSample", command: "github")
        + sample("AppleSample", command: "sign-in-with-apple")
)
