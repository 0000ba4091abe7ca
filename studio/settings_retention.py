"""The section `[retention]` of the settings."""

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, Field

from studio.services.retention_ports import Kept


class RetentionSettings(BaseModel):
    """How many days each kind of record is kept; what was played and paid stays for good."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    pictures_days: int = Field(default=30, ge=1, le=3650)
    """Pictures of unread and held cards."""
    scan_reports_days: int = Field(default=90, ge=7, le=3650)
    """Ids of scanner reports: none that is older may still be waiting at a scanner."""
    command_answers_days: int = Field(default=30, ge=1, le=3650)
    alarms_days: int = Field(default=1_825, ge=30, le=36_500)
    """Alarms whose cause is gone."""
    logins_days: int = Field(default=90, ge=1, le=3650)
    """Failed logins and ended sessions."""

    @property
    def days(self) -> Mapping[Kept, int]:
        """How long each kind is kept."""
        return {kind: int(getattr(self, f"{kind}_days")) for kind in Kept}
