import ArgumentParser

@main
struct Identity: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "identity")
    mutating func run() async throws {}
}
