/** All commands, their options and their help. What a command needs is loaded when it runs, so that serving starts fast. */
import { Command } from "commander";

export async function createProgram(name: string | undefined): Promise<Command> {
  const program = new Command("commerce").description("Commerce Gateway: a commerce platform's public API.").exitOverride();
  program
    .command("serve")
    .description("Serves everything on one port.")
    .action(async () => (await import("./serve.ts")).serve());
  program
    .command("gateway")
    .description("Serves requests and leaves payments, webhooks and sweeps to workers. Needs PostgreSQL.")
    .action(async () => (await import("./serve.ts")).serve("gateway"));
  program
    .command("worker")
    .description("Does payments, webhooks and sweeps, and answers for its health alone. Any number of them. Needs PostgreSQL.")
    .action(async () => (await import("./serve.ts")).serve("worker"));
  if (name !== "serve") await addOthers(program);
  for (const command of program.commands) command.exitOverride();
  return program;
}

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
