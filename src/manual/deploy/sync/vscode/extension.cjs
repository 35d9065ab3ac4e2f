/** A status bar item for the synced folder of a workspace. Copy this folder to ~/.vscode/extensions/cairn-sync-status. */
const { request } = require('node:http');
const path = require('node:path');
const vscode = require('vscode');

const EVERY_MS = 2000;
const ICONS = {
  ready: 'check',
  syncing: 'sync~spin',
  starting: 'sync~spin',
  paused: 'debug-pause',
  'hub away': 'cloud',
};

exports.activate = (context) => {
  const item = vscode.window.createStatusBarItem(vscode.StatusBarAlignment.Left, 0);
  item.command = 'cairn.syncStatus';
  const open = () => {
    const terminal = vscode.window.createTerminal('cairn');
    terminal.show();
    terminal.sendText('cairn sync status');
  };
  const look = async () => show(item, await statusOf(vscode.workspace.workspaceFolders?.[0]?.uri.fsPath));
  const timer = setInterval(look, EVERY_MS);
  context.subscriptions.push(item, vscode.commands.registerCommand('cairn.syncStatus', open), {
    dispose: () => clearInterval(timer),
  });
  return look();
};

function show(item, status) {
  if (status === undefined) {
    item.text = '$(circle-slash) sync: no watch';
    item.tooltip = 'Start it with: cairn sync watch';
  } else {
    const waits = [...status.conflicts, ...Object.keys(status.held), ...Object.keys(status.problems)];
    item.text = `$(${ICONS[status.state] ?? 'warning'}) sync: ${status.state}`;
    item.tooltip = waits.length === 0 ? `${status.vault} on ${status.hub}` : waits.slice(0, 20).join('\n');
  }
  item.show();
}

/** What the watch of a folder says; undefined when none runs. */
function statusOf(folder) {
  if (folder === undefined) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    const socketPath = path.join(folder, '.cairn', 'watch.sock');
    const asked = request({ socketPath, path: '/status', timeout: 1000 }, (answer) => {
      let text = '';
      answer.on('data', (part) => {
        text += part;
      });
      answer.on('end', () => resolve(JSON.parse(text)));
    });
    asked.on('timeout', () => asked.destroy());
    asked.on('error', () => resolve(undefined));
    asked.end();
  });
}
