/** Opens the database of the settings for the length of a command, migrated. */
import { readSettings, type Settings } from "#app/settings.ts";
import { type OpenDatabase, openDatabase } from "#database/connect.ts";
import { migrate } from "#database/migrate.ts";

export async function withDatabase<Result>(work: (database: OpenDatabase, settings: Settings) => Promise<Result>): Promise<Result> {
  const settings = readSettings(process.env);
  const database = await openDatabase({
    url: settings.databaseUrl,
    directUrl: settings.databaseDirectUrl,
    poolSize: settings.databasePool,
    prepared: settings.databasePrepared,
    folder: settings.databaseUrl === undefined ? settings.dataDir : undefined,
  });
  try {
    await migrate(database);
    return await work(database, settings);
  } finally {
    await database.close();
  }
}
