"""How Django's transactions begin: as transaction_mode says, where the plan asks for it."""

import assay_worker


class Modes(assay_worker.Driver):
    def mode(self):
        """The options of a connection whose transactions begin as is asked for."""
        return {"transaction_mode": self.begin.upper()} if self.begin else {}

    def begins(self):
        return f'OPTIONS["transaction_mode"] = "{self.begin.upper()}"' if self.begin else super().begins()

    def control(self, connection, policy):
        if not self.begin:
            return super().control(connection, policy)
        begin = lambda args: connection.set_autocommit(False, force_begin_transaction_with_broken_autocommit=True)

        def end(by):
            def ends(args):
                by()
                connection.set_autocommit(True)

            return ends

        return [begin, end(connection.commit), end(connection.rollback)]
