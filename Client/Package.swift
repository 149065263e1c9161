// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

let package = Package(
    name: "identity-swift",
    platforms: [.iOS(.v16), .macOS(.v13)],
    products: [
        .library(name: "IdentityClient", targets: ["IdentityClient"]),
        .library(name: "IdentityServer", targets: ["IdentityServer"]),
        .library(name: "IdentityHummingbird", targets: ["IdentityHummingbird"]),
    ],
    traits: [
        .trait(name: "Hummingbird", description: "Builds IdentityHummingbird, the middleware for Hummingbird.")
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.26.0"),
    ],
    targets: [
        // What both sides need: HTTP, a lock, base64url.
        .target(name: "IdentityCore", swiftSettings: strict),
        .target(name: "IdentityClient", dependencies: ["IdentityCore"], swiftSettings: strict),
        .target(
            name: "IdentityServer",
            dependencies: [
                "IdentityCore",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
            ],
            swiftSettings: strict
        ),
        .target(
            name: "IdentityHummingbird",
            dependencies: [
                "IdentityServer",
                .product(name: "Hummingbird", package: "hummingbird", condition: .when(traits: ["Hummingbird"])),
            ],
            swiftSettings: strict
        ),

        // Tests
        .target(
            name: "IdentityTestKit",
            dependencies: ["IdentityCore"],
            path: "Tests/IdentityTestKit",
            swiftSettings: strict
        ),
        .executableTarget(
            name: "refresh-worker",
            dependencies: ["IdentityClient"],
            path: "Tests/RefreshWorker",
            swiftSettings: strict
        ),
        .testTarget(
            name: "IdentityClientTests",
            dependencies: [
                "IdentityClient", "IdentityCore", "IdentityTestKit", "refresh-worker",
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "verifier-benchmark",
            dependencies: [
                "IdentityCore", "IdentityServer", "IdentityTestKit",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
            ],
            path: "Tests/VerifierBenchmark",
            swiftSettings: strict
        ),
        .target(
            name: "IdentityServerTestKit",
            dependencies: ["IdentityCore", "IdentityServer", "IdentityTestKit"],
            path: "Tests/IdentityServerTestKit",
            exclude: ["make_vectors.py"],
            resources: [.embedInCode("vectors.json")],
            swiftSettings: strict
        ),
        .testTarget(
            name: "IdentityServerTests",
            dependencies: [
                "IdentityClient", "IdentityCore", "IdentityServer", "IdentityServerTestKit", "IdentityTestKit",
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "IdentityHummingbirdTests",
            dependencies: [
                "IdentityHummingbird", "IdentityServer", "IdentityServerTestKit",
                .product(name: "Hummingbird", package: "hummingbird", condition: .when(traits: ["Hummingbird"])),
            ],
            swiftSettings: strict
        ),
    ]
)
