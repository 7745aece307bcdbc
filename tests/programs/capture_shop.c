/* A small shop in an SQLite database in memory: orders are put in, then asked about. */
#include "sqlite3.h"

#include <stdio.h>
#include <stdlib.h>

static unsigned seed = 1;
static unsigned next(unsigned below) {
  seed = seed * 1103515245u + 12345u;
  return (seed >> 8) % below;
}

static int row(void *unused, int columns, char **values, char **names) {
  (void)unused, (void)names;
  for (int i = 0; i < columns; i++) printf("%s%s", i ? " " : "", values[i] ? values[i] : "-");
  putchar('\n');
  return 0;
}

static void run(sqlite3 *db, const char *sql) {
  char *error = NULL;
  if (sqlite3_exec(db, sql, row, NULL, &error) != SQLITE_OK) {
    fprintf(stderr, "%s\n", error);
    exit(1);
  }
}

int main(int count, char **arguments) {
  int orders = count > 1 ? atoi(arguments[1]) : 20000;
  sqlite3 *db;
  sqlite3_stmt *insert;
  if (sqlite3_open(":memory:", &db) != SQLITE_OK) return 1;
  run(db, "create table orders(id integer primary key, customer integer, item text, cents integer)");
  run(db, "create index by_customer on orders(customer)");
  run(db, "begin");
  sqlite3_prepare_v2(db, "insert into orders(customer, item, cents) values(?, ?, ?)", -1, &insert, NULL);
  for (int i = 0; i < orders; i++) {
    char item[32];
    snprintf(item, sizeof item, "item %u", next(500));
    sqlite3_bind_int(insert, 1, (int)next(1000));
    sqlite3_bind_text(insert, 2, item, -1, SQLITE_TRANSIENT);
    sqlite3_bind_int(insert, 3, (int)next(10000));
    sqlite3_step(insert);
    sqlite3_reset(insert);
  }
  sqlite3_finalize(insert);
  run(db, "commit");
  run(db, "select item, count(*), sum(cents) from orders group by item order by 3 desc limit 3");
  run(db, "select customer, sum(cents) from orders where customer between 100 and 120 group by customer order by 2 desc limit 3");
  sqlite3_close(db);
  return 0;
}
