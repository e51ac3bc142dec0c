import {recipes} from "./clients/cli/src/trigger-recipes.ts";
import {Command} from "commander"; import {addIntegratorCommands} from "./clients/cli/src/commands.ts";
for (const t of process.argv[2]? process.argv.slice(2) : recipes.keys()) { process.exitCode=0; const at=Date.now(); const p=new Command("c"); addIntegratorCommands(p); process.stdout.write(t+": "); const w=process.stdout.write; process.stdout.write=()=>true; 
 await p.parseAsync(["n","c","trigger",t]).catch(e=>console.error(e.stack)); process.stdout.write=w; console.log(process.exitCode===0?"ok":"FAILED", Date.now()-at) }
