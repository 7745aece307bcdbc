/* A small shop in an SQLite database in memory: 50,000 orders; then 2,000 customers are asked what their orders cost.
 *   shop plain      with an index on the customer: each order that is found is looked up in the table, too
 *   shop covering   with an index on the customer and the price: the table is not needed
 * Only the questions are recorded. */
#include "sqlite3.h"

#include <orrery.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned seed = 1;
static unsigned below(unsigned n) {
  seed = seed * 1103515245u + 12345u;
  return (seed >> 8) % n;
}

static void run(sqlite3 *db, const char *sql) {
  char *error = NULL;
  if (sqlite3_exec(db, sql, NULL, NULL, &error) != SQLITE_OK) {
    fprintf(stderr, "%s: %s\n", sql, error);
    exit(1);
  }
}

int main(int count, char **arguments) {
  int covering = count > 1 && !strcmp(arguments[1], "covering");
  sqlite3 *db;
  sqlite3_stmt *insert, *ask;
  if (count < 2) { fprintf(stderr, "usage: shop plain|covering\n"); return 2; }
  orrery_pause();
  if (sqlite3_open(":memory:", &db) != SQLITE_OK) return 1;
  run(db, "create table orders(id integer primary key, customer integer, item text, cents integer)");
  run(db, "begin");
  sqlite3_prepare_v2(db, "insert into orders(customer, item, cents) values(?, ?, ?)", -1, &insert, NULL);
  for (int i = 0; i < 50000; i++) {
    char item[64];
    snprintf(item, sizeof item, "a thing of our shop that has the number %u", below(500));
    sqlite3_bind_int(insert, 1, (int)below(5000));
    sqlite3_bind_text(insert, 2, item, -1, SQLITE_TRANSIENT);
    sqlite3_bind_int(insert, 3, (int)below(10000));
    sqlite3_step(insert);
    sqlite3_reset(insert);
  }
  sqlite3_finalize(insert);
  run(db, "commit");
  run(db, covering ? "create index by_customer on orders(customer, cents)" : "create index by_customer on orders(customer)");
  long long all = 0;
  orrery_resume();
  sqlite3_prepare_v2(db, "select sum(cents) from orders where customer = ?", -1, &ask, NULL);
  for (int i = 0; i < 2000; i++) {
    sqlite3_bind_int(ask, 1, (int)below(5000));
    if (sqlite3_step(ask) == SQLITE_ROW) all += sqlite3_column_int64(ask, 0);
    sqlite3_reset(ask);
  }
  sqlite3_finalize(ask);
  orrery_pause();
  printf("%lld\n", all);
  sqlite3_close(db);
  return 0;
}
