/**
 * The part of a Mesh plugin that a GraphQL server needs when it executes through `run`: parsing, validation, and its
 * hooks on requests and results. The hooks around an execution are left out, because Mesh calls them inside `run`.
 */
import type { Plugin } from "graphql-yoga";

export function serverPlugin(plugin: Plugin): Plugin {
  const { onExecute: _execute, onContextBuilding: _context, onEnveloped: _enveloped, onPluginInit, ...hooks } = plugin;
  if (onPluginInit === undefined) return hooks;
  return {
    ...hooks,
    onPluginInit: (payload) => onPluginInit({ ...payload, addPlugin: (added) => payload.addPlugin(serverPlugin(added)) }),
  };
}
