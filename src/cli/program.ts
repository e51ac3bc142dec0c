/** All commands, their options and their help. What a command needs is loaded when it runs, so that serving starts fast. */
import { Command } from "commander";

export async function createProgram(name: string | undefined): Promise<Command> {
  const program = new Command("commerce").description("Commerce Gateway: a commerce platform's public API.").exitOverride();
  for (const [command, { role, description }] of Object.entries(services))
    program
      .command(command)
      .description(description)
      .option("--processes <n>", "how many share the port, 1 to 64, instead of PROCESSES; more than one need PostgreSQL")
      .action(async (options: { processes?: string }) => (await import("./serve.ts")).serve(role, options));
  if (name === undefined || !Object.hasOwn(services, name)) await addOthers(program);
  for (const command of program.commands) command.exitOverride();
  return program;
}

const services = {
  serve: { role: "all", description: "Serves everything on one port." },
  gateway: { role: "gateway", description: "Serves requests and leaves payments, webhooks and sweeps to workers. Needs PostgreSQL." },
  worker: {
    role: "worker",
    description: "Does payments, webhooks and sweeps, and answers for its health alone. Any number of them. Needs PostgreSQL.",
  },
} as const;

async function addOthers(program: Command): Promise<void> {
  const [
    { migrateCommand, seedCommand },
    { addAccessCommands },
    { addOauthCommands },
    { addPeopleCommands },
    { addUpkeepCommands },
    { webhookCommand },
    { showConfig },
  ] = await Promise.all([
    import("./data-commands.ts"),
    import("./access-commands.ts"),
    import("./oauth-commands.ts"),
    import("./people-commands.ts"),
    import("./upkeep-commands.ts"),
    import("./webhook-commands.ts"),
    import("./config-command.ts"),
  ]);
  program.addCommand(migrateCommand());
  program.addCommand(seedCommand());
  addAccessCommands(program);
  addOauthCommands(program);
  addPeopleCommands(program);
  addUpkeepCommands(program);
  program.addCommand(webhookCommand());
  program
    .command("config")
    .description("Prints the settings in force, secrets masked.")
    .option("--json", "as JSON")
    .action(({ json }: { json?: boolean }) => showConfig(json === true));
}
