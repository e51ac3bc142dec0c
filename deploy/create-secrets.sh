#!/bin/sh
# Creates the files with the passwords and keys of compose.yaml: `sh deploy/create-secrets.sh`, or
# `sh deploy/create-secrets.sh FOLDER` for another folder than ./secrets. Existing files stay as they are.
#
# Keep a copy of encryption_keys separate from the backups: without the keys, encrypted data in the backups cannot be read.
#
# To give a file a certain value, set the environment variable with its name in capital letters, for example for the
# values of an .env file of an earlier release: `(set -a && . ./.env && sh deploy/create-secrets.sh)`.
set -eu
umask 077
folder=${1:-./secrets}
mkdir -p "$folder"

# Writes a file unless it exists. The containers read the files with their own users, so every user may read a file. On
# this machine, only the owner of the folder reaches the files.
create() {
  [ -e "$folder/$1" ] && return
  printf '%s\n' "$2" > "$folder/$1"
  chmod 444 "$folder/$1"
}

# The password becomes part of a URL, so it contains only hexadecimal digits.
create postgres_password "${POSTGRES_PASSWORD:-$(openssl rand -hex 24)}"
create database_url "${DATABASE_URL:-postgres://commerce:$(cat "$folder/postgres_password")@database:5432/${DATABASE_NAME:-commerce}}"
create encryption_keys "${ENCRYPTION_KEYS:-k1:$(openssl rand -base64 32)}"
create metrics_token "${METRICS_TOKEN:-$(openssl rand -hex 24)}"

# Settings that are not used as long as their file is empty.
create database_direct_url "${DATABASE_DIRECT_URL:-}"
create database_read_url "${DATABASE_READ_URL:-}"
create otel_exporter_otlp_endpoint "${OTEL_EXPORTER_OTLP_ENDPOINT:-}"
