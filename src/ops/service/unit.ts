/** Defines the systemd unit of a hub, used by `cairn service install` and the Debian package. */
import { unitWord } from '../../text/unit-word.ts';

/** Default data folder of the service, managed by systemd. */
export const STATE_FOLDER = '/var/lib/cairn';
/** Settings of the service, one NAME=value a line. */
export const SETTINGS_FILE = '/etc/cairn.env';
export const SERVICE_USER = 'cairn';
export const UNIT_NAME = 'cairn.service';

export interface UnitOptions {
  /** The program and its first arguments, as absolute paths; `serve` is appended. */
  readonly command: readonly string[];
  readonly user: string;
  readonly dataFolder: string;
}

/** Returns the text of the unit. The process may write only to its data folder. */
export function unitText({ command, user, dataFolder }: UnitOptions): string {
  const ownFolder =
    dataFolder === STATE_FOLDER
      ? ['StateDirectory=cairn', 'StateDirectoryMode=0700']
      : [`ReadWritePaths=${unitWord(dataFolder)}`];
  return `[Unit]
Description=Cairn hub
After=network-online.target
Wants=network-online.target

[Service]
# The hub says when it is ready, and every 20 seconds that it is alive; one that hangs is ended and started again.
Type=notify
NotifyAccess=all
# An upgrade of a large data file takes its time.
TimeoutStartSec=infinity
WatchdogSec=60
WatchdogSignal=SIGKILL
User=${user}
WorkingDirectory=/
ExecStart=${[...command, 'serve'].map(unitWord).join(' ')}
# Opens the access log again and reads a renewed TLS certificate.
ExecReload=/bin/kill -HUP $MAINPID
Environment=${unitWord(`CAIRN_DATA=${dataFolder}`)}
# More settings, one NAME=value a line.
EnvironmentFile=-${SETTINGS_FILE}
${ownFolder.join('\n')}
# Where compiled modules are kept, and a single executable unpacks its program.
CacheDirectory=cairn
CacheDirectoryMode=0700
UMask=0077
Restart=on-failure
RestartSec=2
# CAIRN_DRAIN_SECONDS and some more.
TimeoutStopSec=20
LimitNOFILE=16384
LimitCORE=0

NoNewPrivileges=yes
CapabilityBoundingSet=
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
PrivateDevices=yes
PrivateUsers=yes
ProtectProc=invisible
ProtectClock=yes
ProtectHostname=yes
ProtectControlGroups=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
RemoveIPC=yes
LockPersonality=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service @pkey
SystemCallFilter=~@privileged
SystemCallErrorNumber=EPERM

[Install]
WantedBy=multi-user.target
`;
}

/** The settings file of a new service: examples only, all commented out. */
export const settingsText = `# Settings of the Cairn hub, one NAME=value a line. Restart after a change: systemctl restart cairn
#CAIRN_PORT=8787
#CAIRN_HOST=127.0.0.1
#CAIRN_PUBLIC_URL=https://hub.example.org
#CAIRN_TRUSTED_PROXIES=127.0.0.1
#CAIRN_SIGNUP=closed
`;
