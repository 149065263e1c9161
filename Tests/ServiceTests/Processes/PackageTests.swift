import Foundation
import IdentityService
import TestKit
import Testing

/// What scripts/dist makes, with another program in the place of a release build, which takes minutes.
@Suite("The package", .timeLimit(.minutes(10)))
struct PackageTests {
    private static func run(_ script: String, in folder: String) async throws -> String {
        let result = try await Program.run("/bin/bash", ["-euc", "cd \"$0\"; \(script)", folder])
        #expect(result.status == 0, "\(script): \(result)")
        return result.output
    }

    @Test("holds the program, a unit that may little, one configuration file, and what it depends on; sums are right")
    func content() async throws {
        try await withTemporaryFolder { folder in
            let root = IdentityProgram.repository.path
            _ = try await Self.run("scripts/dist --binary /bin/true '\(folder)'", in: root)
            let package = "identity_\(Release.version)_*.deb"
            let fields = try await Self.run("dpkg-deb -f \(package)", in: folder)
            #expect(fields.contains("Version: \(Release.version)\n"))
            #expect(fields.contains(/\nDepends: .*libc6 \(>= 2\.36\)/))
            let files = try await Self.run("dpkg-deb -c \(package)", in: folder).split(separator: "\n")
            let expected = [
                "-rwxr-xr-x root/root ./usr/bin/identity", "-rw-r--r-- root/root ./etc/identity/identity.yaml",
                "-rw-r--r-- root/root ./lib/systemd/system/identity.service",
                "-rw-r--r-- root/root ./usr/share/identity/monitoring/dashboard.json",
                "-rw-r--r-- root/root ./usr/share/doc/identity/docs/operations/production.md",
                "-rw-r--r-- root/root ./usr/share/doc/identity/changelog.gz",
            ]
            let listed = files.map { line in
                let parts = line.split(separator: " ")
                return "\(parts[0]) \(parts[1]) \(parts.last ?? "")"
            }
            for line in expected { #expect(listed.contains(line), "\(line)") }
            #expect(!listed.contains { $0.hasPrefix("-rws") || $0.contains("./var") || $0.contains("./home") })
            let control = try await Self.run("dpkg-deb -e \(package) control && cat control/conffiles", in: folder)
            #expect(control.trimmingCharacters(in: .newlines) == "/etc/identity/identity.yaml")
            _ = try await Self.run("for f in control/p*; do sh -n $f; done; rm -r control", in: folder)
            let symbols = try await Self.run(
                "dpkg-deb -x identity-dbgsym_*.deb s && cd s/usr/lib/debug/.build-id && readelf -n */*.debug; echo */*.debug",
                in: folder
            )
            let id = try #require(symbols.firstMatch(of: /Build ID: ([0-9a-f]+)/)?.1)
            #expect(symbols.hasSuffix("\n\(id.prefix(2))/\(id.dropFirst(2)).debug"), "\(symbols)")
            _ = try await Self.run("rm -r s; sha256sum --quiet -c SHA256SUMS", in: folder)
            let tarball = try await Self.run("tar -tzf identity-\(Release.version)-linux-*.tar.gz", in: folder)
            #expect(tarball.contains("/identity\n") && tarball.contains("/docs/operations/production.md\n"))
            let image = try await Self.run("ls docker; cat docker/Dockerfile", in: folder)
            #expect(image.contains("\nhealthcheck\nidentity\n"))
            #expect(image.contains("\nCOPY identity healthcheck /usr/local/bin/\n"))
            // What the package depends on is what the image installs.
            let depends = try await Self.run("dpkg-deb -f \(package) Depends", in: folder)
            let base = ["libc6", "libgcc-s1", "passwd"]
            for name in depends.matches(of: #/(?:^|, )([a-z0-9+.-]+)/#).map(\.1) where !base.contains(String(name)) {
                #expect(image.contains(" \(name) ") || image.contains(" \(name)\n"), "\(name)")
            }
            #expect(image.contains("\nUSER identity\n") && image.contains("\nENV IDENTITY_HTTP_BIND=0.0.0.0:9099\n"))
        }
    }

    @Test("no link of a document leads nowhere, in the package and in the tarball")
    func links() async throws {
        try await withTemporaryFolder { folder in
            _ = try await Self.run("scripts/dist --binary /bin/true '\(folder)'", in: IdentityProgram.repository.path)
            _ = try await Self.run("dpkg-deb -x identity_*.deb package; tar -xzf identity-*.tar.gz", in: folder)
            let documents = try FileManager.default.subpathsOfDirectory(atPath: folder).filter { $0.hasSuffix(".md") }
            #expect(documents.filter { $0.hasSuffix("/docs/guide/providers/README.md") }.count == 2)
            for document in documents {
                let file = URL(filePath: folder).appending(path: document)
                for link in try String(contentsOf: file, encoding: .utf8).matches(of: #/\]\(([^)#\s]+)/#).map(\.1)
                where !link.contains("://") {
                    let target = file.deletingLastPathComponent().appending(path: String(link)).path
                    #expect(FileManager.default.fileExists(atPath: target), "\(document): \(link)")
                }
            }
        }
    }

    @Test("the image's build has every file that Package.swift names")
    func imageContext() async throws {
        try await withTemporaryFolder { folder in
            let allowed = try Repository.text(".dockerignore").split(separator: "\n").filter { $0.hasPrefix("!") }
                .map { String($0.dropFirst()) }
            let stage = try Repository.text("Dockerfile").components(separatedBy: "\nFROM ")[1]
            let copied = stage.matches(of: #/(?m)^COPY ([^-\s]\S*) /#).map { String($0.1) }
            #expect(copied.contains("Package.swift") && Set(copied).isSubset(of: allowed), "\(copied)")
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            for name in copied {
                try FileManager.default.copyItem(
                    atPath: IdentityProgram.repository.appending(path: name).path,
                    toPath: "\(folder)/\(name)"
                )
            }
            _ = try await Self.run("swift package describe", in: folder)
        }
    }

    @Test("its unit has no privilege, hands secrets over as credentials, and ends what is wrong for good")
    func unit() throws {
        let lines = Set(try Repository.text("packaging/identity.service").split(separator: "\n").map { String($0) })
        for line in [
            "User=identity", "NoNewPrivileges=yes", "CapabilityBoundingSet=", "ProtectSystem=strict", "ProtectHome=yes",
            "PrivateDevices=yes", "PrivateTmp=yes", "MemoryDenyWriteExecute=yes", "SystemCallFilter=@system-service",
            "SystemCallFilter=~@privileged", "RestrictNamespaces=yes", "Restart=on-failure",
            "RestartPreventExitStatus=64 78", "StartLimitIntervalSec=0", "LimitCORE=0",
            "LoadCredential=encryption-keys:/etc/identity/encryption-keys",
            "LoadCredential=database-url:/etc/identity/database-url",
        ] { #expect(lines.contains(line), "\(line)") }
        #expect(!lines.contains { $0.hasPrefix("Environment") || $0.hasPrefix("ReadWritePaths") })
    }
}
